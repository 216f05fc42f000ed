import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/engine/limits.ts";
import { ROOT } from "../architecture/imports.ts";
import { codeBlocks, pages, readPage } from "./code-blocks.ts";

const run = promisify(execFile);

describe("code in the documentation", () => {
  const blocks = pages().flatMap(codeBlocks);
  const fromFiles = blocks.filter(({ mark }) => mark?.startsWith("examples/") || isForFrameworks(mark));

  it("equals the example file it names", () => {
    expect(fromFiles.length).toBeGreaterThanOrEqual(3);
    for (const { mark = "", code } of fromFiles) expect(code, mark).toBe(readFileSync(join(ROOT, mark), "utf8"));
  });

  describe("in TypeScript", () => {
    // Inside the repository, where the package resolves by its own name.
    const folder = join(ROOT, `.snippets-${process.pid}`);
    // `npm run frameworks` checks the programs that need its packages.
    const programs = blocks.filter(
      ({ language, code, mark }) => language === "ts" && /^import /m.test(code) && !isForFrameworks(mark),
    );
    beforeAll(() => mkdirSync(folder));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it("type-checks", async () => {
      expect(programs.length).toBeGreaterThan(8);
      for (const [index, { code, mark = "" }] of programs.entries()) {
        const source = mark.startsWith("examples/") ? posix.dirname(mark) : "examples";
        writeFileSync(join(folder, `snippet-${index}.ts`), code.replaceAll('from "./', `from "../${source}/`));
      }
      const config = {
        extends: "../tsconfig.json",
        compilerOptions: { isolatedDeclarations: false },
        include: ["*.ts"],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const { stdout } = await run("tsc", ["--noEmit", "--singleThreaded", "--project", folder]).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout.replaceAll(/snippet-(\d+)/g, (name, index) => `${name} of ${programs[Number(index)]?.page}`)).toBe(
        "",
      );
    });
  });
});

function isForFrameworks(mark: string | undefined): boolean {
  return mark?.startsWith("frameworks/") === true;
}

describe("links in the documentation", () => {
  const isLocal = (target: string) => !/^https?:/.test(target);
  it.each(pages())("of %s have existing targets", (page) => {
    const broken = linksOf(page).filter((target) => isLocal(target) && !leadsSomewhere(page, target));
    expect(broken).toEqual([]);
  });

  const { files }: { files: string[] } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const isPackaged = (path: string) =>
    path === "README.md" || files.some((file) => path === file || path.startsWith(`${file}/`));
  it.each(pages().filter(isPackaged))("of %s have targets that are in the package", (page) => {
    const missing = linksOf(page).filter((target) => {
      const [path = ""] = target.split("#");
      return isLocal(target) && path !== "" && !isPackaged(posix.join(posix.dirname(page), path));
    });
    expect(missing).toEqual([]);
  });
});

describe("the table of limits", () => {
  it("lists every limit with its default", () => {
    const page = readPage("docs/reference/config.md");
    const rows = Array.from(page.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm), ([, name, value]) => [name, value?.trim()]);
    const documented = Object.fromEntries(rows.filter(([name]) => Object.hasOwn(DEFAULT_LIMITS, name ?? "")));
    expect(documented).toEqual(
      Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, readable(value)])),
    );
  });
});

function readable(limit: number): string {
  if (limit % 2 ** 20 === 0) return `${limit / 2 ** 20} MB`;
  if (limit % 2 ** 10 === 0 && limit > 512) return `${limit / 2 ** 10} KB`;
  return limit.toLocaleString("en").replaceAll(",", " ");
}

function linksOf(page: string): readonly string[] {
  const prose = readPage(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(join(ROOT, file))) return false;
  return anchor === undefined || headings(file).includes(anchor);
}

function headings(page: string): readonly string[] {
  return Array.from(readPage(page).matchAll(/^#+ (.+)$/gm), ([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}
