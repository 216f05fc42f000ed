import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TMPFS_TYPE = 0x0102_1994;

/**
 * A new folder for databases, gone when the process ends. In the system's temporary folder, unless that is kept in memory, where
 * synchronising costs nothing and durable figures would mean nothing; then under the current one.
 */
export function createWorkFolder(parent: string | undefined): string {
  const base = parent ?? (isOnDisk(tmpdir()) ? tmpdir() : process.cwd());
  const folder = mkdtempSync(join(base, "palaver-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function isOnDisk(folder: string): boolean {
  return statfsSync(folder).type !== TMPFS_TYPE;
}
