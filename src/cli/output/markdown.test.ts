import { describe, expect, it } from "vitest";
import { MarkdownWriter } from "./markdown.ts";

/** Shown text with styles as `<1>`, written in pieces of this many characters. */
function shown(text: string, size: number): string {
  const writer = new MarkdownWriter();
  let written = "";
  for (let at = 0; at < text.length; at += size) written += writer.feed(text.slice(at, at + size));
  return (written + writer.end())
    .split("\u001b[")
    .map((piece, index) => (index === 0 ? piece : piece.replace(/^(\d+)m/, "<$1>")))
    .join("");
}

const CASES: readonly (readonly [string, string])[] = [
  ["plain text", "plain text"],
  ["some **bold** and *italic* text", "some <1>bold<0> and <3>italic<0> text"],
  ["`code` **b `c`**", "<36>code<0> <1>b <36>c<0><0>"],
  ["ends with *italic*", "ends with <3>italic<0>"],
  ["[text](https://a.example)", "<4>text<0> <2>(https://a.example)<0>"],
  ["# Title\ntext", "<1>Title<0>\ntext"],
  ["- one\n* two\n12. three\n  - four\n", "• one\n• two\n12. three\n  • four\n"],
  ["> quote", "<2>│<0> quote"],
  ["```ts\nconst **x** = 1;\n```\nend", "    <36>const **x** = 1;<0>\nend"],
  ["---\n", `<2>${"─".repeat(40)}<0>\n`],
  // Not Markdown, or not complete: shown as it is.
  ["2 * 3 * 4 and *.ts and snake_case_name", "2 * 3 * 4 and *.ts and snake_case_name"],
  ["a ** b\n`open\n[x] done", "a ** b\n`open\n[x] done"],
  ["| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n"],
  ["#hashtag\n-5 degrees\n1.5", "#hashtag\n-5 degrees\n1.5"],
  ["", ""],
  ["\n\n", "\n\n"],
];

describe("Markdown on a terminal", () => {
  it.each(CASES)("shows %j", (text, expected) => {
    expect(shown(text, 1000)).toBe(expected);
  });

  it.each(CASES)("shows the same if it arrives in pieces: %j", (text, expected) => {
    // Code lines are coloured piece by piece.
    const joined = (written: string): string => written.replaceAll("<0><36>", "");
    for (const size of [1, 2, 3]) expect(joined(shown(text, size)), `${size}`).toBe(expected);
  });

  it("does not hold back an opened span for ever", () => {
    const writer = new MarkdownWriter();
    expect(writer.feed(`[${"x".repeat(600)}`)).toContain("xxx");
  });
});
