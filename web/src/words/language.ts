// The player's language: Portuguese by default, English on request (903-B/2015:6.1.6).
import { effect, signal } from "@preact/signals";
import { readStored, writeStored } from "../browser/storage";

export type Language = "pt" | "en";

export const language = signal<Language>(readStored("language") === "en" ? "en" : "pt");

effect(() => {
  writeStored("language", language.value);
  document.documentElement.lang = language.value;
});

/** The words of one part of the page. The types make sure that both languages have the same keys. */
export function dictionary<T extends object>(pt: T, en: NoInfer<T>): () => T {
  return () => (language.value === "pt" ? pt : en);
}

/** A text that the platform gives in both languages, in the player's. */
export function inLanguage(words: { pt: string; en: string } | undefined): string {
  return words ? words[language.value] || words.pt : "";
}
