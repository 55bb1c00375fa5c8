// Amounts: euro cents on the wire and in code, formatted only where they are shown.
import type { Mode } from "../api/messages";
import { language } from "./language";

export type Cents = number;

/** What an amount is of. Chips are played for where they have no money value: they are counted, and have no hundredths. */
export type Unit = Mode | "CHIPS";

/** Parses a 64-bit number, which JSON carries as text. No account reaches 2^53 cents. */
export function cents(text: string | number | undefined): Cents {
  return Number(text ?? 0);
}

const formats = {
  pt: { euro: euro("pt-PT"), full: full("pt-PT"), plain: plain("pt-PT"), count: whole("pt-PT") },
  en: { euro: euro("en-IE"), full: full("en-IE"), plain: plain("en-IE"), count: whole("en-IE") },
};

function euro(locale: string) {
  return new Intl.NumberFormat(locale, { style: "currency", currency: "EUR" });
}

function full(locale: string) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function whole(locale: string) {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: "always" });
}

function plain(locale: string) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: 0, maximumFractionDigits: 2 });
}

/** Such as `1 234,50 €`. Credits and chips are no money and look different: `1 234,5 créditos`, `1 500 fichas`. */
export function amount(value: Cents, mode: Unit): string {
  const { euro, plain } = formats[language.value];
  if (mode === "CHIPS") return chips(value);
  if (mode !== "MODE_DEMO") return euro.format(value / 100);
  const one = value === 100;
  const unit = language.value === "pt" ? (one ? "crédito" : "créditos") : one ? "credit" : "credits";
  return `${plain.format(value / 100)} ${unit}`;
}

function chips(value: number): string {
  const one = value === 1;
  const unit = language.value === "pt" ? (one ? "ficha" : "fichas") : one ? "chip" : "chips";
  return `${count(value)} ${unit}`;
}

/** A number of things, such as chips: `1 500`. */
export function count(value: number): string {
  return formats[language.value].count.format(value);
}

/** Without its unit, for tight places: `5`, `2,50`. */
export function shortAmount(value: Cents): string {
  return formats[language.value].plain.format(value / 100);
}

/** Without its unit, for a list that names the unit once: `1 234,50`; of credits `1 234,5`. */
export function bareAmount(value: Cents, mode: Mode): string {
  const { full, plain } = formats[language.value];
  return (mode === "MODE_DEMO" ? plain : full).format(value / 100);
}

/** The lower end of a range whose unit follows the upper end: the `16,00` of `16,00 a 22,00 €`. */
export function rangeStart(value: Cents, mode: Mode): string {
  return language.value === "en" && mode !== "MODE_DEMO" ? amount(value, mode) : bareAmount(value, mode);
}

/** With its sign, for gains and losses. */
export function signedAmount(value: Cents, mode: Mode, written: (value: Cents, mode: Mode) => string = amount): string {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + written(Math.abs(value), mode);
}
