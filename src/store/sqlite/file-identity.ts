import { chmodSync, closeSync, openSync, readFileSync, statSync } from "node:fs";

/** Device and inode of the file at a path; `undefined` if it does not exist. */
export function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/**
 * Whether the file has another path that resolving symbolic links does not show: a hard link, or a bind mount. SQLite keeps its write-ahead log
 * beside the path, so two processes that use two paths would corrupt the file.
 */
export function hasOtherPaths(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.nlink > 1 || isMountPoint(file));
}

/** Linux lists its mounts; other systems have no bind mounts of files. */
function isMountPoint(file: string): boolean {
  const lines = textOf("/proc/self/mountinfo").split("\n");
  return lines.some((line) => unescaped(line.split(" ")[4] ?? "") === file);
}

/** The list writes spaces and some other characters as octal numbers. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Id of another process that has locked the file. `undefined`: none, or not Linux: only Linux reports it. */
export function lockHolderOf(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  for (const line of textOf("/proc/locks").split("\n")) {
    // 1: POSIX ADVISORY WRITE 19488 fe:00:2147617 1073741826 1073742335. On some file systems the device differs from that of `stat`.
    const [, pid, inode] = /\s(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) \d+ \w+$/.exec(line) ?? [];
    if (Number(inode) === stats.ino && Number(pid) > 0 && Number(pid) !== process.pid) return Number(pid);
  }
  return undefined;
}

/** Creates a file that only its owner may read and write; sets this mode on an existing file, if permitted. */
export function makePrivate(file: string): void {
  try {
    // Never open an existing file: closing it would release all locks of this process on it (POSIX).
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || (stats.mode & 0o077) === 0) return;
    try {
      chmodSync(file, 0o600);
    } catch {
      // The file belongs to another user.
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
