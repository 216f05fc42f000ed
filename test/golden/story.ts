import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The exact requests and responses of one operation in one version. One file of the version's folder. */
export interface Chapter {
  /** The operation. */
  readonly title: string;
  readonly stories: readonly Story[];
}

export interface Story {
  readonly name: string;
  readonly agent: string;
  /** Sends answer at once, as in this version; otherwise they wait, so that the response is deterministic. */
  readonly atOnce?: boolean;
  readonly exchanges: readonly Exchange[];
}

/** A request and its full response. Responses may contain placeholders: see `matching.ts`. */
export interface Exchange {
  /** Path below the agent's address. Default: the address of its card. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body to post: an object as JSON, a string unchanged. Without it the request is a GET. */
  readonly request?: unknown;
  /** HTTP status. Default 200. */
  readonly status?: number;
  /** Repeat the request until this is the response. */
  readonly until?: boolean;
  /** The body of the response, or its events if it is a stream. */
  readonly reply?: unknown;
  readonly events?: readonly ExpectedEvent[];
  /** Gates to open when the first event has arrived. */
  readonly opens?: readonly string[];
}

export interface ExpectedEvent {
  /** The `event:` field; absent by default. */
  readonly event?: string;
  /** Checked only if given. */
  readonly id?: string;
  readonly data: unknown;
}

/** The folder of the recorded exchanges, by version. */
export const GOLDEN: string = import.meta.dirname;

/** All chapters of a version, in the order of their file names. */
export function chaptersOf(version: string): readonly Chapter[] {
  const folder = join(GOLDEN, version);
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  // Unchecked cast: a file of another form fails its test.
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Chapter);
}
