import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TMPFS_TYPE = 0x0102_1994;

/**
 * Creates a folder for databases that is deleted when the process ends. It is in the system's temporary folder, unless
 * that is in memory, where synchronising is free and durable figures would be meaningless; then it is below the current
 * folder.
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
