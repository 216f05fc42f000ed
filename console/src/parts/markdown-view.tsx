import type { JSX } from "preact";
import { memo } from "preact/compat";
import { type Block, type Inline, parseMarkdown } from "../text/markdown.ts";

/** Markdown of an agent as elements. No part of it is interpreted as HTML. */
export const MarkdownView: (props: { readonly text: string }) => JSX.Element = memo(
  ({ text }: { readonly text: string }) => (
    <div class="prose">
      <Blocks blocks={parseMarkdown(text)} />
    </div>
  ),
);

function Blocks({ blocks }: { readonly blocks: readonly Block[] }): JSX.Element {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </>
  );
}

function BlockView({ block }: { readonly block: Block }): JSX.Element {
  switch (block.kind) {
    case "heading":
      // The page has the first two levels.
      return block.level === 1 ? <h3>{inline(block.children)}</h3> : <h4>{inline(block.children)}</h4>;
    case "code":
      return (
        <pre class="code" tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.children} />
        </blockquote>
      );
    case "table":
      return <TableView head={block.head} rows={block.rows} />;
    case "rule":
      return <hr />;
    default:
      return <p>{inline(block.children)}</p>;
  }
}

type Cells = readonly (readonly Inline[])[];

function TableView({ head, rows }: { readonly head: Cells; readonly rows: readonly Cells[] }): JSX.Element {
  return (
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(pieces: readonly Inline[]): readonly (JSX.Element | string)[] {
  return pieces.map((piece, index) => {
    switch (piece.kind) {
      case "text":
        return piece.text;
      case "code":
        return <code key={index}>{piece.text}</code>;
      case "break":
        return <br key={index} />;
      case "strong":
        return <strong key={index}>{inline(piece.children)}</strong>;
      case "emphasis":
        return <em key={index}>{inline(piece.children)}</em>;
      case "deleted":
        return <del key={index}>{inline(piece.children)}</del>;
      default:
        return (
          <a key={index} class="link" href={piece.url} target="_blank" rel="noopener noreferrer">
            {inline(piece.children)}
          </a>
        );
    }
  });
}
