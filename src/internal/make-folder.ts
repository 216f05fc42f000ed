import { lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder, and those above it that are missing, by default for their owner only; what is there stays as it is. Throws what the system says. Not
 * by `recursive`: where a folder is there and takes none within (below `/proc`, say), that tries for ever.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) makeOne(folder, mode);
  // One of these may have been there, as something else.
  if (!statSync(path).isDirectory()) throw new Error(`${path} is no folder`);
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else may have made it just now.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
