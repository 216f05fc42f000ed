import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { DIRECTIONS } from "../architecture/layers.ts";
import { readPage } from "./code-blocks.ts";

const PAGES = ["docs/architecture.md", "CONTRIBUTING.md"];

describe("pages about the sources", () => {
  it.each(PAGES)("%s names only files and folders that exist", (page) => {
    const paths = Array.from(
      readPage(page).matchAll(/`((?:src|test|chaos|scripts|docs)\/[\w./-]+)`/g),
      ([, path = ""]) => path,
    );
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("docs/architecture.md names every folder of src that has a rule for imports", () => {
    const page = readPage("docs/architecture.md");
    const small = ["demo", "plain", "testing", ""];
    const folders = Object.keys(DIRECTIONS).filter((folder) => !small.includes(folder));
    expect(folders.filter((folder) => !new RegExp(`\\b${folder}\\b`).test(page))).toEqual([]);
  });
});
