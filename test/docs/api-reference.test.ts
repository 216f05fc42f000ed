import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { declarationsOf } from "../../scripts/api-reference/declarations.ts";
import { pageOf } from "../../scripts/api-reference/page.ts";
import { ENTRY_POINTS, outdatedPages } from "../../scripts/api-reference.ts";
import { ROOT } from "../architecture/imports.ts";

describe("docs/reference/api", () => {
  it("is up to date with the doc comments (else: npm run api-reference -- --write)", async () => {
    expect(await outdatedPages()).toEqual([]);
  });

  it("has a page for every entry point of the package", () => {
    const manifest: { exports: object } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const specifiers = Object.keys(manifest.exports)
      .filter((subpath) => subpath !== "./package.json")
      .map((subpath) => subpath.replace(/^\./, "palaver"));
    expect(Object.values(ENTRY_POINTS).map(({ specifier }) => specifier)).toEqual(specifiers);
  });
});

describe("the generator of the API reference", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-api-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it("follows re-exports and imports, and takes over new names", () => {
    write("a.d.ts", "/** A width in pixels. */\nexport type Width = number;\n");
    write("b.d.ts", 'import { type Width } from "./a.ts";\nexport { type Width };\n');
    const entry = write("index.d.ts", 'export { type Width as Size } from "./b.ts";\n');
    expect(declarationsOf(entry)).toEqual([
      { name: "Size", kind: "type", comment: "A width in pixels.", code: "type Width = number;" },
    ]);
  });

  it("keeps the comments of members and overloads, and leaves out private members", () => {
    write(
      "a.d.ts",
      `export declare class Box {
    #private;
    private lid;
    /** How much fits in, in litres. See {@link Lid}. */
    readonly size: number;
}
/** Opens a box. */
export declare function open(box: Box): void;
/** Opens a box by its name. */
export declare function open(name: string): void;
`,
    );
    const entry = write("index.d.ts", 'export { Box, open } from "./a.ts";\n');
    expect(declarationsOf(entry)).toEqual([
      {
        name: "Box",
        kind: "class",
        comment: "",
        code: "class Box {\n  /** How much fits in, in litres. See `Lid`. */\n  readonly size: number;\n}",
      },
      {
        name: "open",
        kind: "function",
        comment: "Opens a box.",
        code: "function open(box: Box): void;\n/** Opens a box by its name. */\nfunction open(name: string): void;",
      },
    ]);
  });

  it("refuses an export it cannot describe, and quotes it", () => {
    const entry = write("index.d.ts", 'export * from "./a.ts";\n');
    expect(() => declarationsOf(entry)).toThrow('cannot describe `export * from "./a.ts";`');
  });

  it("links names in comments and declarations to their sections", () => {
    const page = pageOf({ specifier: "palaver/boxes", purpose: "Boxes." }, [
      { name: "open", kind: "function", comment: "Opens a {@link Box}.", code: "function open(box: Box): void;" },
      { name: "Box", kind: "interface", comment: "", code: 'interface Box {\n  readonly kind: "open";\n}' },
    ]);
    expect(page).toContain("Opens a [`Box`](#interface-box).");
    expect(page).toContain("See [`Box`](#interface-box).");
    expect(page).not.toContain("See [`open`]");
  });
});
