// Shows Markdown as elements, never as HTML text, so that nothing in it can execute.
import type { ComponentChildren } from "preact";
import { type Block, type Inline, markdownBlocks } from "./markdown_blocks";
import "./markdown.css";

interface Props {
  text: string;
  /** The text's language. */
  lang: string;
  /** By how many levels headings are lowered, below those of the page. */
  below?: number;
}

export function Markdown({ text, lang, below = 1 }: Props) {
  return (
    <div class="markdown" lang={lang}>
      {markdownBlocks(text).map((block, at) => (
        <BlockView key={at} block={block} below={below} />
      ))}
    </div>
  );
}

function BlockView({ block, below }: { block: Block; below: number }) {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${Math.min(6, block.level + below)}` as "h2";
      return <Heading>{inlineView(block.text)}</Heading>;
    }
    case "paragraph":
      return <p>{inlineView(block.text)}</p>;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{inlineView(item)}</li>);
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
                    {inlineView(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>{inlineView(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

function inlineView(parts: Inline[]): ComponentChildren {
  return parts.map((part, at) => {
    if (typeof part === "string") return part;
    if ("strong" in part) return <strong key={at}>{inlineView(part.strong)}</strong>;
    if ("em" in part) return <em key={at}>{inlineView(part.em)}</em>;
    return <code key={at}>{part.code}</code>;
  });
}
