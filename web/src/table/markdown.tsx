// Rules as they are shown: made of elements, never of HTML text, so that nothing in them can act.
import type { ComponentChildren } from "preact";
import { type Block, blocks, type Inline } from "./markdown_blocks";
import "./markdown.css";

interface Props {
  text: string;
  /** The language it is written in. */
  lang: string;
  /** Headings below those of the page around it: by how many levels they are lowered. */
  below?: number;
}

export function Markdown({ text, lang, below = 1 }: Props) {
  return (
    <div class="markdown" lang={lang}>
      {blocks(text).map((block, at) => (
        <OneBlock key={at} block={block} below={below} />
      ))}
    </div>
  );
}

function OneBlock({ block, below }: { block: Block; below: number }) {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level + below)}` as "h2";
      return <Heading>{shown(block.text)}</Heading>;
    }
    case "paragraph":
      return <p>{shown(block.text)}</p>;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{shown(item)}</li>);
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        <div class="markdown-table" tabIndex={0}>
          <table class="list">
            <thead>
              <tr>
                {block.head.map((cell, at) => (
                  <th key={at} scope="col">
                    {shown(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>{shown(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

function shown(parts: Inline[]): ComponentChildren {
  return parts.map((part, at) => {
    if (typeof part === "string") return part;
    if ("strong" in part) return <strong key={at}>{shown(part.strong)}</strong>;
    if ("em" in part) return <em key={at}>{shown(part.em)}</em>;
    return <code key={at}>{part.code}</code>;
  });
}
