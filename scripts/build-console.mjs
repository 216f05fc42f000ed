// Builds the console into console/dist. `npm start` runs it with --if-needed, on any Node from 20.19 on: it builds only if a
// source file has changed, and a failure leaves the server without a console instead of stopping it. Prints to stderr only.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, "console", "src");
const INPUTS = "inputs.json";
const MANIFEST = "manifest.json";

/**
 * Writes the files of the console, and `manifest.json` with their names.
 *
 * @param {string} folder
 */
export async function buildConsole(folder = join(root, "console", "dist")) {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: { console: join(source, "main.tsx") },
    platform: "browser",
    transform: { target: "es2023" },
    resolve: { alias: { "palaver/client": join(root, "src", "client.ts") } },
    onLog(_level, log) {
      throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({
      format: "es",
      minify: true,
      entryFileNames: "[name]-[hash].js",
      chunkFileNames: "[name]-[hash].js",
    });
    const chunks = output.filter((file) => file.type === "chunk");
    const entry = chunks.find((chunk) => chunk.isEntry);
    if (entry === undefined) throw new Error("The console has no entry.");
    const files = new Map(chunks.map((chunk) => [chunk.fileName, chunk.code]));
    const style = styles();
    const styleName = `console-${hash(style)}.css`;
    files.set(styleName, style).set("icon.svg", readFileSync(join(source, "icon.svg"), "utf8"));
    const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
    const first = filesOf(entry.fileName, byName);
    const preload = [...first].filter((file) => file !== entry.fileName);
    const pages = pageFiles(chunks, (file) => [...filesOf(file, byName)].filter((each) => !first.has(each)));
    const manifest = { script: entry.fileName, style: styleName, preload, pages, files: [...files.keys()] };
    files.set(MANIFEST, `${JSON.stringify(manifest, undefined, 2)}\n`);
    const modules = chunks.flatMap((chunk) =>
      chunk.moduleIds.filter((id) => id.startsWith("/") || /^[A-Z]:/i.test(id)),
    );
    files.set(INPUTS, JSON.stringify(fingerprints([...modules, ...styleFiles()])));
    writeFiles(folder, files);
    return manifest;
  } finally {
    await build.close();
  }
}

/** For each page that is loaded later, such as `task-page`: its file and all that it imports and the first page does not. */
function pageFiles(chunks, needed) {
  const pages = chunks.filter(({ isDynamicEntry, name }) => isDynamicEntry && name.endsWith("-page"));
  return Object.fromEntries(pages.map(({ name, fileName }) => [name, needed(fileName)]));
}

/** A file and all that it imports. */
function filesOf(fileName, byName, found = new Set()) {
  if (found.has(fileName)) return found;
  found.add(fileName);
  for (const imported of byName.get(fileName)?.imports ?? []) filesOf(imported, byName, found);
  return found;
}

/** The manifest is replaced last, so that a server that starts meanwhile finds all files of one build. */
function writeFiles(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of files) {
    writeFileSync(join(folder, `${name}.${process.pid}.new`), content);
    renameSync(join(folder, `${name}.${process.pid}.new`), join(folder, name));
  }
  for (const name of readdirSync(folder))
    if (!files.has(name) && !name.endsWith(".new")) rmSync(join(folder, name), { force: true });
}

/** Builds the console if it is not built, or a source file has changed. */
export async function ensureConsole() {
  if (!isCurrent()) await buildConsole();
}

/** Whether no file that the console was built from has changed. New files are imported by changed ones. */
function isCurrent(folder = join(root, "console", "dist")) {
  try {
    const built = JSON.parse(readFileSync(join(folder, INPUTS), "utf8"));
    const now = fingerprints([...Object.keys(built).map((path) => join(root, path)), ...styleFiles()]);
    return existsSync(join(folder, MANIFEST)) && JSON.stringify(now) === JSON.stringify(built);
  } catch {
    return false;
  }
}

/** Size and time of each file, and of this script. */
function fingerprints(paths) {
  const all = [...new Set([...paths, fileURLToPath(import.meta.url)])].sort((one, other) => one.localeCompare(other));
  return Object.fromEntries(
    all.map((path) => {
      const { size, mtimeMs } = statSync(path);
      return [relative(root, path), `${size} ${mtimeMs}`];
    }),
  );
}

function styleFiles() {
  const folder = join(source, "styles");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".css"))
    .sort()
    .map((name) => join(folder, name));
}

/** All style sheets in the order of their names, without comments and indentation. */
function styles() {
  return styleFiles()
    .map((path) => readFileSync(path, "utf8"))
    .join("\n")
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\s*\n\s*/g, "\n")
    .replace(/([{;,])\n/g, "$1")
    .replace(/\n}/g, "}")
    .trim();
}

function hash(text) {
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const ifNeeded = process.argv.includes("--if-needed");
  if (!ifNeeded || !isCurrent()) {
    try {
      await buildConsole();
    } catch (error) {
      console.error(
        `palaver: the console could not be built: ${error instanceof Error ? error.message : String(error)}`,
      );
      if (!ifNeeded) process.exitCode = 1;
    }
  }
}
