// Amounts as players write them, in both languages; what could be two amounts is none.
import { describe, expect, test } from "vitest";
import { parseAmount, readAmount } from "../../../../src/games/poker/amounts/typed_amount";

describe("in Portuguese", () => {
  test.each([
    ["12", 1200],
    ["12,5", 1250],
    ["12,50", 1250],
    ["12.50", 1250],
    ["0,05", 5],
    [",5", 50],
    ["1 234,50 €", 123450],
    ["1\u00a0234,50\u00a0€", 123450],
    ["1.234,50", 123450],
    ["1.234", 123400],
    ["1.234.567", 123456700],
    ["€ 7", 700],
    ["7 euros", 700],
    ["1 000 créditos", 100000],
  ])("%s", (text, cents) => expect(parseAmount(text, "pt")).toBe(cents));
});

describe("in English", () => {
  test.each([
    ["12.50", 1250],
    ["12,50", 1250],
    ["1,234.50", 123450],
    ["1,234", 123400],
    ["€1,234.5", 123450],
    ["3 credits", 300],
  ])("%s", (text, cents) => expect(parseAmount(text, "en")).toBe(cents));
});

test.each([
  ["", "pt"],
  ["€", "pt"],
  ["-5", "pt"],
  ["1e3", "pt"],
  ["12,505", "pt"],
  ["1.234", "en"],
  ["1,234", "pt"],
  ["1.23.456", "pt"],
  ["1.234.50", "pt"],
  ["1,234,5", "en"],
  ["12,", "pt"],
  ["12 50 abc", "pt"],
  ["99999999999999999999", "pt"],
] as const)("%s is no amount in %s", (text, language) => expect(parseAmount(text, language)).toBeNull());

describe("within bounds", () => {
  const range = { minimum_cents: 200, maximum_cents: 35000 };
  test.each([
    ["2", { cents: 200, problem: null }],
    ["350", { cents: 35000, problem: null }],
    ["1,99", { cents: null, problem: "below" }],
    ["350,01", { cents: null, problem: "above" }],
    ["much", { cents: null, problem: "unreadable" }],
  ])("%s", (text, read) => expect(readAmount(text, "pt", range)).toEqual(read));
});
