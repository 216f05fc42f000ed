import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Folders whose files are not sources. */
const SKIPPED = new Set(["node_modules", "dist", "coverage", "build"]);
/** Files that can change what a program does. */
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;
/** More folders than this are not watched: a home folder, for example, has far too many. */
const MOST_FOLDERS = 500;
/** Milliseconds after the last change: editors write a file in several steps. */
const PAUSE = 100;

/** A running watch. */
export interface FolderWatch {
  close(): void;
}

/**
 * Calls back with the name of a source file that has changed in one of these folders or below them. Hidden folders and folders of
 * packages and builds are skipped.
 */
export function watchFolders(folders: readonly string[], onChange: (file: string) => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const add = (folder: string): void => {
    if (watchers.has(folder) || watchers.size >= MOST_FOLDERS) return;
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null) return;
        if (SOURCE.test(name) && !name.endsWith(".operator.json")) report(join(folder, name));
        else addBelow(folder);
      });
      // The folder was deleted.
      watcher.on("error", () => watchers.delete(folder));
      watchers.set(folder, watcher);
    } catch {
      return; // The folder cannot be read.
    }
    addBelow(folder);
  };
  const addBelow = (folder: string): void => {
    for (const name of foldersIn(folder)) add(join(folder, name));
  };
  const report = (file: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(file), PAUSE);
  };
  for (const folder of folders) add(folder);
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED.has(entry.name))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
