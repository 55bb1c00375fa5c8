// Rules are parsed completely: no word is lost, and no Markdown mark is left.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Block, type Inline, markdownBlocks, markdownInline } from "../../src/rules/markdown_blocks";

/** The text of a game's rules with everything that a table could have in it, its blanks filled. */
function rules(game: string, language: string): string {
  const text = readFileSync(new URL(`../../../services/${game}/rules/${language}.md`, import.meta.url), "utf8");
  return text.replace(/^<!--.*-->\n/gm, "").replace(/\$\w+/g, "12,50 €");
}

function plain(parts: Inline[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      if ("strong" in part) return plain(part.strong);
      return "em" in part ? plain(part.em) : part.code;
    })
    .join("");
}

function texts(block: Block): Inline[][] {
  if (block.kind === "list") return block.items;
  return block.kind === "table" ? [...block.head, ...block.rows.flat()] : [block.text];
}

const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "");

describe.each(["pt", "en"])("the rules of roulette in %s", (language) => {
  const text = rules("roulette", language);
  const found = markdownBlocks(text);

  it("keep every letter, in order", () => {
    const read = found.flatMap(texts).map(plain).join("");
    // The numbers of an ordered list are its own to count.
    expect(lettersOf(read)).toBe(lettersOf(text.replace(/^\d+\. /gm, "")));
  });

  it("leave no mark", () => {
    for (const part of found.flatMap(texts)) expect(plain(part)).not.toMatch(/\*|^#|\||<!--|^\d+\. /);
  });

  it("have headings, lists that count, and tables whose rows are as long as their heads", () => {
    const kinds = new Set(found.map((block) => block.kind));
    expect([...kinds].sort()).toEqual(["heading", "list", "paragraph", "table"]);
    expect(found[0]).toMatchObject({ kind: "heading", level: 1 });
    expect(found.some((block) => block.kind === "list" && block.ordered && block.items.length > 3)).toBe(true);
    for (const block of found) {
      if (block.kind === "table") for (const row of block.rows) expect(row).toHaveLength(block.head.length);
    }
  });
});

describe("marks", () => {
  it("emphasis nests", () => {
    expect(markdownInline("**so *much* more** `x*y`.")).toEqual([
      { strong: ["so ", { em: ["much"] }, " more"] },
      " ",
      { code: "x*y" },
      ".",
    ]);
  });

  it("a lone star is a star", () => {
    expect(markdownInline("2 * 3 = 6")).toEqual(["2 * 3 = 6"]);
  });

  it("HTML is text", () => {
    expect(markdownBlocks("<img src=x onerror=alert(1)>")).toEqual([
      { kind: "paragraph", text: ["<img src=x onerror=alert(1)>"] },
    ]);
  });

  it("indented lines continue an item, and a list starts at its first number", () => {
    expect(markdownBlocks("3. one\n   more\n4. two\n\nAfter")).toEqual([
      { kind: "list", ordered: true, start: 3, items: [["one more"], ["two"]] },
      { kind: "paragraph", text: ["After"] },
    ]);
  });
});
