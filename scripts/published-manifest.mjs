// In the repository, package.json points to the TypeScript sources, which Node runs directly. Node refuses to do so
// under node_modules, so the packed manifest points to the built output instead. `npm pack` reads the manifest from
// disk: it is rewritten before, and restored byte for byte after. The backup stays until the original is restored,
// whatever happens. Plain JavaScript, because the install check uses it on any Node version.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ASIDE = ".package.json.original";

/** @param {string} root */
export function swapIn(root) {
  restore(root);
  const original = readFileSync(join(root, "package.json"), "utf8");
  writeWhole(join(root, ASIDE), original);
  writeWhole(join(root, "package.json"), publishedForm(original));
}

/**
 * Restores the original manifest, if there is a backup.
 * @param {string} root
 * @returns {"nothing-aside" | "restored" | "edited-since"}
 */
export function restore(root) {
  const aside = join(root, ASIDE);
  if (!existsSync(aside)) return "nothing-aside";
  const original = readFileSync(aside, "utf8");
  const current = readFileSync(join(root, "package.json"), "utf8");
  if (current === publishedForm(original)) {
    renameSync(aside, join(root, "package.json"));
    return "restored";
  }
  rmSync(aside);
  return current === original ? "restored" : "edited-since";
}

/**
 * The manifest that goes into the tarball.
 * @param {string} original
 */
export function publishedForm(original) {
  const { scripts: _scripts, devDependencies: _devDependencies, ...manifest } = JSON.parse(original);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([subpath, target]) => [
      subpath,
      target.endsWith(".ts") ? { types: built(target, ".d.ts"), default: built(target, ".js") } : target,
    ]),
  );
  const bin = Object.fromEntries(Object.entries(manifest.bin).map(([name, target]) => [name, built(target, ".js")]));
  return `${JSON.stringify({ ...manifest, exports, bin }, undefined, 2)}\n`;
}

function built(source, extension) {
  return source.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, extension);
}

function writeWhole(path, text) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
