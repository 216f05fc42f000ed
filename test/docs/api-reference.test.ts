import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { declarationsOf, usedBy } from "../../scripts/api-reference/declarations.ts";
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
      {
        name: "Size",
        kind: "type",
        comment: "A width in pixels.",
        code: "type Width = number;",
        file: join(folder, "a.d.ts"),
      },
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
        file: join(folder, "a.d.ts"),
      },
      {
        name: "open",
        kind: "function",
        comment: "Opens a box.",
        code: "function open(box: Box): void;\n/** Opens a box by its name. */\nfunction open(name: string): void;",
        file: join(folder, "a.d.ts"),
      },
    ]);
  });

  it("refuses an export it cannot describe, and quotes it", () => {
    const entry = write("index.d.ts", 'export * from "./a.ts";\n');
    expect(() => declarationsOf(entry)).toThrow('cannot describe `export * from "./a.ts";`');
  });

  it("finds the declarations that exported ones use, also in other files, but not those of packages", () => {
    write("states.d.ts", 'export declare const STATES: readonly ["on", "off"];\n');
    write(
      "a.d.ts",
      `import type { Agent } from "node:http";
import { STATES } from "./states.ts";
/** How a box is closed. */
type Lid = "flap" | "lock";
export interface Box { lid: Lid; state: (typeof STATES)[number]; agent: Agent; next: Box }
`,
    );
    const entry = write("index.d.ts", 'export type { Box } from "./a.ts";\n');
    expect(usedBy(declarationsOf(entry)).map(({ kind, name, comment }) => [kind, name, comment])).toEqual([
      ["type", "Lid", "How a box is closed."],
      ["constant", "STATES", ""],
    ]);
  });

  it("does not follow declarations that another entry point exports", () => {
    write("a.d.ts", "type Hinge = string;\nexport interface Lid { hinge: Hinge }\n");
    write("b.d.ts", 'import type { Lid } from "./a.ts";\nexport interface Box { lid: Lid }\n');
    const entry = write("index.d.ts", 'export type { Box } from "./b.ts";\n');
    const used = usedBy(declarationsOf(entry), ({ name }) => name === "Lid");
    expect(used.map(({ name }) => name)).toEqual(["Lid"]);
  });

  it("links names in comments and declarations to their sections", () => {
    const file = "a.d.ts";
    const open = {
      name: "open",
      kind: "function",
      comment: "Opens a {@link Box}.",
      code: "function open(box: Box): void;",
      file,
    } as const;
    const box = {
      name: "Box",
      kind: "interface",
      comment: "",
      code: 'interface Box {\n  readonly kind: "open";\n}',
      file,
    } as const;
    const page = pageOf(
      { specifier: "palaver/boxes", purpose: "Boxes." },
      { exported: [open], used: [box], elsewhere: new Map() },
    );
    expect(page).toContain("Opens a [`Box`](#interface-box).");
    expect(page).toContain("See [`Box`](#interface-box).");
    expect(page).not.toContain("See [`open`]");
    expect(page.indexOf("## Not exported")).toBeLessThan(page.indexOf("### interface `Box`"));
  });
});
