/** The names of the built files. */
export interface ConsoleManifest {
  readonly script: string;
  readonly style: string;
  readonly preload: readonly string[];
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly string[];
}

/** Builds the console. Default folder: console/dist. */
export function buildConsole(folder?: string): Promise<ConsoleManifest>;

/** Builds the console into console/dist if it is not built, or a source file has changed. */
export function ensureConsole(): Promise<void>;
