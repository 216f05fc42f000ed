interface LockFile {
  // biome-ignore lint/suspicious/noExplicitAny: entries of a lock file, as npm writes them
  readonly packages: Readonly<Record<string, any>>;
}

interface RunPackages {
  readonly manifest: { readonly dependencies: Readonly<Record<string, string>> };
  readonly lock: LockFile;
}

/** A manifest and a lock file with only the packages that a server needs. `withNode`: also a Node. */
export function runPackages(lock: LockFile, withNode: boolean): RunPackages;
