import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** A line that is valid only in an ES module. */
const ESM_LINE =
  /^[ \t]*(?:import\s*(?:[\w$*{]|["'])|export\s*(?:[*{]|(?:default|const|let|var|function|async|class|type|interface|enum)\b))/m;
/** Names that only a CommonJS module uses. */
const COMMONJS_USE = /\bmodule\.exports\b|^[ \t]*exports\.|\brequire\(/m;

/** Hooks cannot be removed, and a second registration would read every file twice. */
let isRegistered = false;

/**
 * Loads files that use `import` and `export` as ES modules even where the nearest package.json says `"type": "commonjs"`, as
 * `npm init` writes it. Node alone rejects such files. Packages under `node_modules` and real CommonJS files load as usual. Stays active for the rest of the
 * process, because a module may import others later.
 */
export function allowEsmInCommonjs(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    load(url, context, nextLoad) {
      const format = esmFormat(context.format);
      if (format === undefined || !isOwnFile(url) || !hasEsmSyntax(url)) return nextLoad(url, context);
      return nextLoad(url, { ...context, format });
    },
  });
}

/** The ES module format that corresponds to a CommonJS one; `undefined` for every other format. */
function esmFormat(format: string | null | undefined): string | undefined {
  if (format === "commonjs") return "module";
  return format === "commonjs-typescript" ? "module-typescript" : undefined;
}

/** `.cjs` and `.cts` are left alone: their names say what they are. */
function isOwnFile(url: string): boolean {
  return /^file:.*\.[jt]s$/.test(url) && !url.includes("/node_modules/");
}

function hasEsmSyntax(url: string): boolean {
  try {
    const source = readFileSync(fileURLToPath(url), "utf8");
    return ESM_LINE.test(source) && !COMMONJS_USE.test(source);
  } catch {
    return false; // Node reports what is wrong with the file.
  }
}
