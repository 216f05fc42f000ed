import { chmodSync, closeSync, openSync, readFileSync, statSync } from "node:fs";

/** Which file a path leads to, whatever its name; `undefined` if there is none. */
export function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/**
 * Whether the file can be reached by another path that no resolving of links shows: it has hard links, or is mounted over another
 * file. SQLite keeps its write-ahead log beside the path, so that two processes with two paths would destroy the file.
 */
export function hasOtherPaths(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.nlink > 1 || isMountPoint(file));
}

/** Linux lists what is mounted where; elsewhere files are not mounted over files. */
function isMountPoint(file: string): boolean {
  const lines = textOf("/proc/self/mountinfo").split("\n");
  return lines.some((line) => unescaped(line.split(" ")[4] ?? "") === file);
}

/** Spaces and the like are written as octal numbers. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The process other than this one that has locked the file. `undefined`: none, or the system does not say; only Linux does. */
export function lockHolderOf(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  for (const line of textOf("/proc/locks").split("\n")) {
    // 1: POSIX ADVISORY WRITE 19488 fe:00:2147617 1073741826 1073742335. Of some file systems the device is not that of `stat`.
    const [, pid, inode] = /\s(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) \d+ \w+$/.exec(line) ?? [];
    if (Number(inode) === stats.ino && Number(pid) > 0 && Number(pid) !== process.pid) return Number(pid);
  }
  return undefined;
}

/** Makes a file that only its owner may read and write, and one that is there already likewise, if that is allowed. */
export function makePrivate(file: string): void {
  try {
    // Never opens one that is there: to close it would release every lock that this process has on it.
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || (stats.mode & 0o077) === 0) return;
    try {
      chmodSync(file, 0o600);
    } catch {
      // It is another user's.
    }
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
