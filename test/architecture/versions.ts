import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { VERSIONS } from "../../src/wire/registry.ts";
import { ROOT, sourceFiles } from "./imports.ts";

/** A text of a program that names a version of the protocol. The path is relative to `src/`, with forward slashes. */
export interface Mention {
  readonly file: string;
  readonly text: string;
}

const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const LITERALS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const NAMED = VERSIONS.filter((version) => /^\d/.test(version)).map((version) => version.replace(".", "\\."));
const MENTION = new RegExp(`(?<![\\w.])(?:${NAMED.join("|")})(?:\\.\\d+)?(?![\\d.]\\d|\\d)(?:/[\\w-]+)?`, "g");

/** What is no version of the protocol, or must name one: the agents of the demonstration have versions of their own. */
const ALLOWED: readonly Mention[] = [
  ...["assistant", "booking", "countdown", "echo", "files"].map((name) => ({ file: `demo/${name}.ts`, text: "1.0.0" })),
  { file: "testing/store-operations.ts", text: "1.0/jsonrpc" },
  { file: "testing/store/write-cases.ts", text: "1.0/jsonrpc" },
];

export function mentionsIn(file: string, source: string): readonly Mention[] {
  const literals = source.replaceAll(COMMENTS, "").match(LITERALS) ?? [];
  return literals.flatMap((literal) => Array.from(literal.match(MENTION) ?? [], (text) => ({ file, text })));
}

/** Every source file outside `wire/` that names a version without being allowed to; and what is allowed to and does not. */
export function strayMentions(): { readonly stray: readonly Mention[]; readonly unused: readonly Mention[] } {
  const src = join(ROOT, "src");
  const files = sourceFiles(src).map((path) => [relative(src, path).replaceAll("\\", "/"), path] as const);
  const mentions = files
    .filter(([file]) => !file.startsWith("wire/"))
    .flatMap(([file, path]) => mentionsIn(file, readFileSync(path, "utf8")));
  const isSame = (a: Mention) => (b: Mention) => a.file === b.file && a.text === b.text;
  return {
    stray: mentions.filter((mention) => !ALLOWED.some(isSame(mention))),
    unused: ALLOWED.filter((allowed) => !mentions.some(isSame(allowed))),
  };
}
