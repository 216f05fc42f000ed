import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { ConsoleFile, ConsoleFiles } from "../../transport/console/console-files.ts";

/** The same folder seen from the sources and from the published package. */
const FOLDER = new URL("../../../console/dist/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** As the build writes it: the names of its files. */
interface Manifest {
  readonly script: string;
  readonly style: string;
  readonly preload: readonly string[];
  /** Absent if an earlier version built the console. */
  readonly pages?: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly string[];
}

/** Reads the built console when it is first needed. `undefined`: it is not built. */
export function createConsoleLoader(folder: URL = FOLDER): () => ConsoleFiles | undefined {
  let loaded: ConsoleFiles | undefined;
  return () => {
    loaded ??= loadConsole(folder);
    return loaded;
  };
}

function loadConsole(folder: URL): ConsoleFiles | undefined {
  const text = readIfPresent(new URL("manifest.json", folder));
  if (text === undefined) return undefined;
  // Safe cast: the build wrote it.
  const { script, style, preload, pages = {}, files } = JSON.parse(text) as Manifest;
  return {
    script,
    style,
    preload,
    pages,
    files: new Map(files.map((name) => [name, loadFile(new URL(name, folder))])),
  };
}

function readIfPresent(file: URL): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function loadFile(file: URL): ConsoleFile {
  const body = new Uint8Array(readFileSync(file));
  const type = TYPES[file.pathname.slice(file.pathname.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return { type, body, gzip: new Uint8Array(gzipSync(body)) };
}
