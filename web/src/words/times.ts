// Times and durations, in the legal time of continental Portugal (903-B/2015:2.1.3).
import { language } from "./language";

const ZONE = "Europe/Lisbon";
const locales = { pt: "pt-PT", en: "en-GB" };

/** `18/11/2026, 17:35`. */
export function dateTime(at: string | Date | undefined): string {
  if (!at) return "";
  return new Intl.DateTimeFormat(locales[language.value], {
    day: "2-digit",
    month: "2-digit",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: ZONE,
  }).format(new Date(at));
}

/** `17:35:07`. */
export function timeOfDay(at: string | Date | undefined): string {
  if (!at) return "";
  return new Intl.DateTimeFormat(locales[language.value], { timeStyle: "medium", timeZone: ZONE }).format(new Date(at));
}

/** `1:07:32` or `7:32`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Within a sentence: `9 s`, `3 min 5 s`, `1 h 07 min`. */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (h) return `${h} h ${String(m).padStart(2, "0")} min`;
  return m ? `${m} min ${s} s` : `${s} s`;
}
