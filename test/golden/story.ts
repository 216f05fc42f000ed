import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a caller of one version and a server say to each other, word for word. One file of a version's folder. */
export interface Chapter {
  /** The operation. */
  readonly title: string;
  readonly stories: readonly Story[];
}

export interface Story {
  readonly name: string;
  readonly agent: string;
  /** Sends answer at once, as in this version they do; otherwise they wait, so that what they answer is certain. */
  readonly atOnce?: boolean;
  readonly exchanges: readonly Exchange[];
}

/** A request, and all that comes back. Replies may hold placeholders: see `matching.ts`. */
export interface Exchange {
  /** Below the agent's address. Default: where its card says. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is posted: as JSON, a text as it is. Without it, the path is read. */
  readonly request?: unknown;
  /** HTTP status. Default 200. */
  readonly status?: number;
  /** Asked again until this is the answer. */
  readonly until?: boolean;
  /** The body of the answer; or its events, if it is a stream. */
  readonly reply?: unknown;
  readonly events?: readonly ExpectedEvent[];
  /** What is let go on when the first event is there. */
  readonly opens?: readonly string[];
}

export interface ExpectedEvent {
  /** What `event:` says; nothing, by default. */
  readonly event?: string;
  /** Where it matters. */
  readonly id?: string;
  readonly data: unknown;
}

/** Where the exchanges are written down, by version. */
export const GOLDEN: string = import.meta.dirname;

/** All chapters of a version, in the order of their file names. */
export function chaptersOf(version: string): readonly Chapter[] {
  const folder = join(GOLDEN, version);
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  // Safe enough: what is not of this form fails as a test.
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Chapter);
}
