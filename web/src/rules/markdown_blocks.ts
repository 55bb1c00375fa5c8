// Parses the subset of Markdown that rules are written in: headings, paragraphs, lists, tables, emphasis.

export type Inline = string | { strong: Inline[] } | { em: Inline[] } | { code: string };

export type Block =
  | { kind: "heading"; level: number; text: Inline[] }
  | { kind: "paragraph"; text: Inline[] }
  | { kind: "list"; ordered: boolean; start: number; items: Inline[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] };

const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^[*-]\s+(.*)$/;
const NUMBER = /^(\d+)\.\s+(.*)$/;
const ROW = /^\|(.*)\|\s*$/;
const RULE_OF_TABLE = /^\|[\s:|-]+\|\s*$/;

export function markdownBlocks(text: string): Block[] {
  const found: Block[] = [];
  const lines = text.split("\n");
  let at = 0;
  const line = () => lines[at] ?? "";
  while (at < lines.length) {
    const heading = line().match(HEADING);
    if (!line().trim()) at += 1;
    else if (heading) {
      found.push({ kind: "heading", level: (heading[1] as string).length, text: markdownInline(heading[2] as string) });
      at += 1;
    } else if (ROW.test(line())) found.push(table());
    else if (BULLET.test(line()) || NUMBER.test(line())) found.push(list());
    else found.push({ kind: "paragraph", text: markdownInline(taken(() => !beginsBlock(line()))) });
  }
  return found;

  /** Joins the current line with those that continue it. */
  function taken(goesOn: () => boolean): string {
    const parts = [line().trim()];
    at += 1;
    while (at < lines.length && line().trim() && goesOn()) {
      parts.push(line().trim());
      at += 1;
    }
    return parts.join(" ");
  }

  function list(): Block {
    const ordered = NUMBER.test(line());
    const marker = ordered ? NUMBER : BULLET;
    const start = ordered ? Number(line().match(NUMBER)?.[1]) : 1;
    const items: Inline[][] = [];
    while (marker.test(line())) {
      // Continuation lines of an item are indented.
      const whole = taken(() => /^\s/.test(line()));
      items.push(markdownInline((whole.match(marker) as RegExpMatchArray)[ordered ? 2 : 1] as string));
      while (at < lines.length && !line().trim() && marker.test(lines[at + 1] ?? "")) at += 1;
    }
    return { kind: "list", ordered, start, items };
  }

  function table(): Block {
    const rows: Inline[][][] = [];
    while (ROW.test(line())) {
      if (!RULE_OF_TABLE.test(line())) rows.push(cells(line()));
      at += 1;
    }
    const [head = [], ...rest] = rows;
    return { kind: "table", head, rows: rest };
  }
}

function beginsBlock(line: string): boolean {
  return HEADING.test(line) || ROW.test(line) || BULLET.test(line) || NUMBER.test(line);
}

function cells(row: string): Inline[][] {
  return (row.match(ROW)?.[1] ?? "").split("|").map((cell) => markdownInline(cell.trim()));
}

// Longest first, so that `**` is not read as two `*`.
const EMPHASIS = /\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*|`([^`]+)`/;

export function markdownInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let rest = text;
  for (let found = rest.match(EMPHASIS); found; found = rest.match(EMPHASIS)) {
    const [whole, strong, em, code] = found;
    if (found.index) parts.push(rest.slice(0, found.index));
    if (strong !== undefined) parts.push({ strong: markdownInline(strong) });
    else if (em !== undefined) parts.push({ em: markdownInline(em) });
    else parts.push({ code: code as string });
    rest = rest.slice((found.index ?? 0) + whole.length);
  }
  if (rest) parts.push(rest);
  return parts;
}
