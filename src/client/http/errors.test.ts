import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CLIENT_ERROR_CODES } from "./errors.ts";

const page = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
const [, section = ""] = page.split("\n## In the client\n");
const entries = Array.from(
  section.matchAll(/^- `([a-z-]+)`: ([\s\S]*?)(?=^- |(?![\s\S]))/gm),
  ([, code, text = ""]) => ({
    code,
    text: text.trim(),
  }),
);

describe("The reference page about errors", () => {
  it("lists every code of the client in the same order", () => {
    expect(entries.map(({ code }) => code)).toEqual([...CLIENT_ERROR_CODES]);
  });

  it("explains the meaning of each code and what to do", () => {
    for (const { code, text } of entries) expect(text, code).toMatch(/^[A-Z][^.]+[\s\S]*\.\s[\s\S]+\.$/);
  });
});

describe("The client guide", () => {
  it("contains every code", () => {
    const guide = readFileSync(new URL("../../../docs/guide/client.md", import.meta.url), "utf8");
    for (const code of CLIENT_ERROR_CODES) expect(guide).toContain(`\`${code}\``);
  });
});
