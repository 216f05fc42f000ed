import { lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and its missing parents, by default accessible to the owner only. Existing folders stay as they are. Throws the system's
 * error. Does not use `recursive`, which never returns if a parent exists but accepts no folders (for example below `/proc`).
 */
export function makeFolder(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) makeOne(folder, mode);
  // The path may exist and not be a folder.
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it in between.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
