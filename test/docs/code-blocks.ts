import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../architecture/imports.ts";

export interface CodeBlock {
  readonly page: string;
  readonly language: string;
  /** The comment directly above the block. */
  readonly mark: string | undefined;
  readonly code: string;
}

const BLOCK = /^(?:<!-- ([^\n]+?) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm;

export function pages(): readonly string[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    ...docs.map((name) => `docs/${name.replaceAll("\\", "/")}`),
  ].filter((name) => name.endsWith(".md"));
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

export function codeBlocks(page: string): readonly CodeBlock[] {
  return Array.from(readPage(page).matchAll(BLOCK), ([, mark, language = "", code = ""]) => ({
    page,
    language,
    mark,
    code,
  }));
}
