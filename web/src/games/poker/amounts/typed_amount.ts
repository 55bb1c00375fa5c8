// Reads an amount that a player types, as it is written in Portuguese or in English.
import type { Language } from "../../../words/language";
import type { Cents } from "../../../words/money";

export interface Range {
  minimum_cents: Cents;
  maximum_cents: Cents;
}

/** Why a typed amount cannot be taken. */
export type AmountProblem = "unreadable" | "below" | "above";

/** What the hundredths of a unit are: of chips there are none. */
export type Hundredths = 100 | 1;

export type TypedAmount = { cents: Cents; problem: null } | { cents: null; problem: AmountProblem };

const THOUSANDS = { pt: ".", en: "," } as const;
const UNIT = /€|\b(eur|euros?|cr[ée]ditos?|credits?|fichas?|chips?)\b/gi;
// Spaces of every width, and apostrophes, which some people write between thousands.
const GAPS = /[\s\u00a0\u202f'’]/g;

/** The amount if it can be read and lies within the bounds. */
export function readAmount(
  text: string,
  language: Language,
  { minimum_cents, maximum_cents }: Range,
  hundredths: Hundredths = 100,
): TypedAmount {
  const hundred = parseAmount(text, language);
  const cents = hundred === null ? null : inUnits(hundred, hundredths);
  if (cents === null) return { cents: null, problem: "unreadable" };
  if (cents < minimum_cents) return { cents: null, problem: "below" };
  if (cents > maximum_cents) return { cents: null, problem: "above" };
  return { cents, problem: null };
}

/** The cents of `1 234,50 €` or `1,234.50`; null for anything that is no amount, or could be two. */
export function parseAmount(text: string, language: Language): Cents | null {
  const digits = text.replace(UNIT, "").replace(GAPS, "");
  const parts = /^(\d+(?:[.,]\d{3})*|\d*)(?:([.,])(\d{1,2}))?$/.exec(digits);
  if (!parts || digits === "") return null;
  const [, whole = "", decimal, fraction = ""] = parts;
  const separators = new Set(whole.replace(/\d/g, ""));
  // One kind between thousands, another before the cents.
  if (separators.size > 1 || (decimal && separators.has(decimal))) return null;
  const [separator] = separators;
  if (separator && !isGrouped(whole, separator)) return null;
  // `1.234` is a thousand in Portuguese; in English it would be a fraction of a cent.
  if (separator && !decimal && separator !== THOUSANDS[language] && !isRepeated(whole, separator)) return null;
  if (!whole && !fraction) return null;
  const cents = Number(whole.replace(/\D/g, "") || 0) * 100 + Number(fraction.padEnd(2, "0"));
  return Number.isSafeInteger(cents) ? cents : null;
}

/** Null for a part of a chip. */
function inUnits(cents: Cents, hundredths: Hundredths): number | null {
  const value = (cents * hundredths) / 100;
  return Number.isInteger(value) ? value : null;
}

function isGrouped(whole: string, separator: string): boolean {
  const [first = "", ...groups] = whole.split(separator);
  return first.length >= 1 && first.length <= 3 && groups.every((group) => group.length === 3);
}

function isRepeated(whole: string, separator: string): boolean {
  return whole.split(separator).length > 2;
}
