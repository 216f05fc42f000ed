import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { importsIn, importsOfSources, ROOT, sourceFiles } from "./imports.ts";
import {
  DIRECTIONS,
  findCycle,
  LARGE_FOLDERS,
  MAX_FILES,
  packageOf,
  reachable,
  STRUCTURAL_PEERS,
  violations,
} from "./layers.ts";
import { mentionsIn, strayMentions } from "./versions.ts";

describe("the layers of src", () => {
  const imports = importsOfSources();

  it("import only what the table of directions allows", () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(violations(imports)).toEqual([]);
  });

  it(`have at most ${MAX_FILES} source files in a folder, or a reason for more`, () => {
    const counts = new Map<string, number>();
    for (const file of sourceFiles(join(ROOT, "src"))) {
      const folder = relative(join(ROOT, "src"), dirname(file)).replaceAll("\\", "/");
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const large = [...counts].filter(([, count]) => count > MAX_FILES).map(([folder]) => folder);
    expect(large.toSorted()).toEqual(Object.keys(LARGE_FOLDERS).toSorted());
  });

  it("have no import cycles, imports of types included", () => {
    expect(findCycle(imports)).toBeUndefined();
  });

  it("import files that exist, by their whole name", () => {
    const missing = imports.filter(({ kind, to }) => kind === "file" && !existsSync(join(ROOT, "src", to)));
    expect(missing).toEqual([]);
  });

  it("each have a row in the table", () => {
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).filter((name) => DIRECTIONS[name] === undefined)).toEqual([]);
  });

  it("name no version of the protocol outside wire", () => {
    expect(strayMentions()).toEqual({ stray: [], unused: [] });
  });

  it("use every runtime dependency of the manifest, and no other package, in what is published", () => {
    const { files }: { files: string[] } = readJson("tsconfig.build.json");
    const published = reachable(
      imports,
      files.map((file) => file.replace(/^src\//, "")),
    );
    const imported = published.filter(({ kind }) => kind === "package").map(({ to }) => packageOf(to));
    const used = new Set([...imported, ...STRUCTURAL_PEERS]);
    const manifest: { dependencies: object; peerDependencies: object } = readJson("package.json");
    expect([...used].sort()).toEqual(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).sort());
  });

  it("are published from every entry point of the manifest", () => {
    const { files }: { files: string[] } = readJson("tsconfig.build.json");
    const manifest: { exports: Record<string, string>; bin: Record<string, string> } = readJson("package.json");
    const entries = [...Object.values(manifest.exports), ...Object.values(manifest.bin)].filter((file) =>
      file.endsWith(".ts"),
    );
    expect(files).toEqual(expect.arrayContaining(entries.map((file) => file.replace(/^\.\//, ""))));
  });
});

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(ROOT, name), "utf8"));
}

describe("the layer check", () => {
  const check = (from: string, source: string) => violations(importsIn(from, source));

  it.each([
    ["protocol/task.ts", 'import { a } from "../internal/abort.ts";', "protocol may import only nothing"],
    ["engine/engine.ts", 'import { open } from "../store/sqlite/store.ts";', "import the contract"],
    ["server/send.ts", 'import type { Codec } from "../wire/codec.ts";', "server may import only"],
    ["transport/http.ts", 'import { codec } from "../wire/v1_0/codec.ts";', "nothing outside wire may know a version"],
    ["engine/engine.ts", 'import { serve } from "../platform/serve.ts";', "engine may import only"],
    ["testing/rig.ts", 'export { serve } from "../platform/serve.ts";', "testing may import only"],
    ["platform/serve.ts", 'const { run } = await import("../cli/main.ts");', "platform may import only"],
    ["store/sqlite/store.ts", 'import pino from "pino";', "only platform may use this package"],
    ["client/connect.ts", 'import axios from "axios";', "no folder may use this package"],
    ["wire/v1_0/part.ts", 'import { Buffer } from "node:buffer";', "wire must not depend on Node"],
    [
      "store/sqlite/store.ts",
      'new Worker(new URL("../../engine/engine.ts", import.meta.url));',
      "store may import only",
    ],
    ["engine/read/feed.ts", 'import { run } from "../run/run.ts";', "engine/read may import only record, api.ts"],
    ["engine/new/a.ts", 'import { run } from "../run/run.ts";', "engine/new has no row"],
    ["push/push.ts", 'import { run } from "../engine/run/run.ts";', "push may import only"],
    ["misc/thing.ts", 'import "../protocol/task.ts";', "no row"],
  ])("refuses %s: %s", (from, source, reason) => {
    expect(check(from, source)).toEqual([expect.stringContaining(reason)]);
  });

  it("names the file and the import at fault", () => {
    expect(check("engine/engine.ts", 'import {\n  a,\n  b,\n} from "../platform/serve.ts";')).toEqual([
      expect.stringMatching(/^src\/engine\/engine\.ts imports platform\/serve\.ts: /),
    ]);
  });

  it("lets pass what is allowed, and what a comment only mentions", () => {
    expect(
      check("engine/engine.ts", 'import type { Store } from "../store/contract.ts";\nimport "node:events";'),
    ).toEqual([]);
    expect(check("protocol/task.ts", ' * import { agent } from "palaver";')).toEqual([]);
  });

  it.each([
    ['if (version === "0.3") return;', ["0.3"]],
    ["const dialect = '0.2/jsonrpc';", ["0.2/jsonrpc"]],
    ["const text = `Supports A2A 1.0 and 0.1`;", ["1.0", "0.1"]],
    ['const card = { protocolVersion: "0.2.6" };', ["0.2.6"]],
    ['listen("127.0.0.1"); allow("10.0.0.0/8"); bind("0.0.0.0");', []],
    ['const jsonrpc = "2.0"; const half = 0.3; const type = "text/plain";', []],
    ['// As in "0.3".\n/** Such as `1.0/jsonrpc`. */\nrun();', []],
  ])("sees which versions are named: %s", (source, named) => {
    expect(mentionsIn("server/send.ts", source).map(({ text }) => text)).toEqual(named);
  });

  it("finds cycles, also through imports of types", () => {
    const a = importsIn("engine/a.ts", 'import { b } from "./b.ts";');
    const cycle = ["engine/a.ts", "engine/b.ts", "engine/a.ts"];
    expect(findCycle([...a, ...importsIn("engine/b.ts", 'import { a } from "./a.ts";')])).toEqual(cycle);
    expect(findCycle([...a, ...importsIn("engine/b.ts", 'import type { A } from "./a.ts";')])).toEqual(cycle);
    expect(findCycle([...a, ...importsIn("engine/b.ts", 'import { c } from "./c.ts";')])).toBeUndefined();
  });
});
