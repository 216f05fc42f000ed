import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOfSources, ROOT } from "../architecture/imports.ts";
import { reachable } from "../architecture/layers.ts";

describe.each([
  // gRPC is loaded on demand. Its library for messages runs anywhere; HTTP/2 and buffers are asked for at run time and only Node has them.
  {
    what: "the client",
    entry: "client.ts",
    least: 40,
    packages: [
      "jose",
      "jose/decode/protected_header",
      "@bufbuild/protobuf",
      "@bufbuild/protobuf/wire",
      "@bufbuild/protobuf/wkt",
    ],
    onDemand: [
      "client/grpc/http2-connection.ts",
      "wire/byte-string.ts",
      "wire/proto/json-writer.ts",
      "wire/proto/wire-format.ts",
    ],
  },
  {
    what: "the receiver of webhooks",
    entry: "webhook.ts",
    least: 10,
    packages: ["jose", "jose/base64url", "jose/decode/protected_header"],
    onDemand: [] as string[],
  },
])("$what", ({ entry, least, packages, onDemand }) => {
  const imports = reachable(importsOfSources(), [entry]).filter(({ typeOnly }) => !typeOnly);
  const files = [...new Set([entry, ...imports.filter(({ kind }) => kind === "file").map(({ to }) => to)])];

  it("imports only web standards: no Node module, and no package that imports one", () => {
    expect(files.length).toBeGreaterThan(least);
    const foreign = imports.filter(({ kind }) => kind !== "file").map(({ to }) => to);
    expect([...new Set(foreign)].toSorted()).toEqual(packages.toSorted());
  });

  it("uses no Node global", () => {
    const using = files.filter((file) => {
      const source = readFileSync(join(ROOT, "src", file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      return /(?<![\w."'])(Buffer|process|setImmediate|require)\b\s*[.(]/.test(source);
    });
    expect(using.toSorted()).toEqual(onDemand);
  });
});
