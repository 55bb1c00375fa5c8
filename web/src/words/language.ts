// The player's language: Portuguese first, English by his choice (903-B/2015:6.1.6).
import { effect, signal } from "@preact/signals";
import { recall, remember } from "../memory";

export type Language = "pt" | "en";

export const language = signal<Language>(recall("language") === "en" ? "en" : "pt");

effect(() => {
  remember("language", language.value);
  document.documentElement.lang = language.value;
});

/** The words of one part of the page. Both languages have the same ones: the types see to it. */
export function dictionary<T extends object>(pt: T, en: NoInfer<T>): () => T {
  return () => (language.value === "pt" ? pt : en);
}

/** What the platform says in both languages. */
export function said(words: { pt: string; en: string } | undefined): string {
  return words ? words[language.value] || words.pt : "";
}
