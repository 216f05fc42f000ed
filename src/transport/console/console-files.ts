/** A file of the console, ready to be sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The built console. Its files have a hash of their content in their names, so they never change. */
export interface ConsoleFiles {
  /** The name of the script that the page starts with. */
  readonly script: string;
  readonly style: string;
  /** Loaded with the script, so that the browser requests them at once. */
  readonly preload: readonly string[];
  /** Files that a page needs besides, by its name, such as `task-page`. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}
