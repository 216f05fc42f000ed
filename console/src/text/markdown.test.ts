import { describe, expect, it } from "vitest";
import { type Block, type Inline, parseInline, parseMarkdown, safeUrl } from "./markdown.ts";

/** All links in blocks. */
function links(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(links);
  if (typeof value !== "object" || value === null) return [];
  const own = "kind" in value && value.kind === "link" && "url" in value ? [String(value.url)] : [];
  return [...own, ...Object.values(value).flatMap(links)];
}

/** The text without any marks. */
function plain(pieces: readonly Inline[]): string {
  return pieces
    .map((piece) => ("children" in piece ? plain(piece.children) : "text" in piece ? piece.text : "\n"))
    .join("");
}

describe("Markdown", () => {
  it("is read as blocks", () => {
    const kinds = parseMarkdown(
      "# Title\n\ntext\nmore\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> quote\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet x;\n```",
    ).map(({ kind }) => kind);
    expect(kinds).toEqual(["heading", "paragraph", "list", "list", "quote", "rule", "table", "code"]);
  });

  it("has nested lists, and items of several lines", () => {
    const [list] = parseMarkdown("- a\n  more\n  - inner\n- b") as readonly [Extract<Block, { kind: "list" }>];
    expect(list.items.length).toBe(2);
    expect(list.items[0]?.map(({ kind }) => kind)).toEqual(["paragraph", "list"]);
  });

  it("shows an open code block while its end has not arrived", () => {
    expect(parseMarkdown("```js\nlet x = 1;\nlet y")).toEqual([
      { kind: "code", language: "js", text: "let x = 1;\nlet y" },
    ]);
  });

  it.each([
    ["**a** and *b* and ~~c~~ and `d`", ["strong", "text", "emphasis", "text", "deleted", "text", "code"]],
    ["snake_case_name and 2 * 3 * 4", ["text"]],
    ["a \\*b\\*", ["text", "text", "text", "text"]],
  ])("reads %j", (text, kinds) => {
    expect(parseInline(text).map(({ kind }) => kind)).toEqual(kinds);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example",
    "/relative",
    "blob:https://x/y",
    "ftp://x",
  ])("makes no link to %j", (url) => {
    expect(safeUrl(url)).toBeUndefined();
    expect(links(parseMarkdown(`[x](${url}) <a href="${url}">`)).filter((each) => !/^https?:/.test(each))).toEqual([]);
  });

  it("keeps HTML as text", () => {
    const [block] = parseMarkdown("<script>alert(1)</script> <img src=x onerror=y>");
    expect(block?.kind === "paragraph" && plain(block.children)).toBe(
      "<script>alert(1)</script> <img src=x onerror=y>",
    );
  });

  it("links bare URLs without the punctuation after them", () => {
    expect(links(parseMarkdown("See https://example.org/a, or (https://example.org/b)."))).toEqual([
      "https://example.org/a",
      "https://example.org/b",
    ]);
  });

  it("reads long and deeply nested texts to their end", () => {
    for (const text of [
      "[".repeat(50_000),
      "*a".repeat(20_000),
      ">".repeat(20_000),
      "- ".repeat(5000),
      "`".repeat(50_000),
      "**_~~".repeat(5000),
    ])
      expect(JSON.stringify(parseMarkdown(text)).length).toBeGreaterThan(10);
  });
});
