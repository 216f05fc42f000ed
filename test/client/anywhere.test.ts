import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOfSources, ROOT } from "../architecture/imports.ts";
import { reachable } from "../architecture/layers.ts";

describe.each([
  ["the client", "client.ts", 40],
  ["the receiver of webhooks", "webhook.ts", 10],
] as const)("%s", (_, entry, least) => {
  const imports = reachable(importsOfSources(), [entry]).filter(({ typeOnly }) => !typeOnly);
  const files = [...new Set([entry, ...imports.filter(({ kind }) => kind === "file").map(({ to }) => to)])];

  it("imports only web standards: no Node module, and no package that imports one", () => {
    expect(files.length).toBeGreaterThan(least);
    const foreign = imports.filter(({ kind }) => kind !== "file").map(({ to }) => to);
    expect([...new Set(foreign)]).toEqual(["jose"]);
  });

  it("uses no Node global", () => {
    const using = files.filter((file) => {
      const source = readFileSync(join(ROOT, "src", file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      return /(?<![\w."'])(Buffer|process|setImmediate|require)\b\s*[.(]/.test(source);
    });
    expect(using).toEqual([]);
  });
});
