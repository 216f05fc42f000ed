import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, systemCode } from "../startup-error.ts";

/** Why a module could not be loaded, where (file and line), and what to do about it. */
export function describeLoadFailure(error: unknown, file: string): string {
  const place = placeOf(error, file);
  return `${place === undefined ? "" : `${place}: `}${reasonOf(error)}`;
}

/**
 * The first position in a stack that is neither in Node nor in a package, as `agent.ts:3:14`, relative to the working directory. For a syntax error, the stack
 * has only the line.
 */
export function placeOf(error: unknown, file: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const [, url, position] of stack.matchAll(/(file:\/\/[^\s()]+?):(\d+(?::\d+)?)(?=[\s)]|$)/g)) {
    if (url === undefined || url.includes("/node_modules/") || isOwnSource(url)) continue;
    return `${shortPath(fileURLToPath(url))}:${position}`;
  }
  return error instanceof SyntaxError ? syntaxErrorPlace(file) : undefined;
}

/** V8 omits the position of a syntax error from the stack; a syntax check of the file as an ES module prints it. */
function syntaxErrorPlace(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--check", "-"], {
    encoding: "utf8",
    input: readFileSync(file),
    timeout: 5000,
  });
  const line = /^\[stdin\]:(\d+)$/m.exec(stderr)?.[1];
  return line === undefined ? undefined : `${shortPath(resolve(file))}:${line}`;
}

/** Positions in this package do not help the author of an agent. */
function isOwnSource(url: string): boolean {
  return url.startsWith(new URL("..", import.meta.url).href);
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}

/** The message of Node, and what to do about it. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  switch (systemCode(error)) {
    case "ERR_MODULE_NOT_FOUND":
      return `${message}\nInstall the imported package, or correct the import.`;
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return "Node does not run TypeScript under node_modules.\nServe a file of your own, or a built one.";
    case "ERR_UNKNOWN_FILE_EXTENSION":
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return `${message}\nPass the path of a .ts, .mts, .js or .mjs file.`;
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return `${message}\n${ERASABLE_ONLY}`;
    case "ERR_INVALID_TYPESCRIPT_SYNTAX":
      return `${message}\nCorrect the syntax there.`;
    default:
      return error instanceof SyntaxError
        ? `${message}\nCorrect the syntax there.`
        : `${message}\nIt threw while it was being loaded; --verbose shows the whole stack.`;
  }
}

/** Shown if a file uses TypeScript syntax that Node's type stripping does not support. */
const ERASABLE_ONLY = `\
Node removes types and compiles nothing, so syntax that makes code does not run. Write instead:
  enum Color { Red }              const Color = { Red: "red" } as const;
  constructor(private key: K)     a field, and an assignment in the constructor
  namespace Tools { … }           a module of its own
  import fs = require("fs")       import fs from "node:fs"
Or build the file to JavaScript first (tsc) and serve that. "erasableSyntaxOnly" in tsconfig.json finds all such places.`;
