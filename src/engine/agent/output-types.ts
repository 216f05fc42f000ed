import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** A file in a received message. */
export interface ReceivedFile {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** The content of an inline file. */
  readonly bytes: Uint8Array | undefined;
  /** The URL of a file that was sent by reference. */
  readonly url: string | undefined;
}

/** A file to send: its bytes, or a URL. */
export type FileOutput = {
  readonly name?: string;
  readonly mediaType?: string;
} & ({ readonly bytes: Uint8Array; readonly url?: never } | { readonly url: string; readonly bytes?: never });

/** Output of an agent: a text, a part, a list of parts, a file (`{ file }`), or any other JSON value, which becomes a data part. */
export type Output = string | Part | readonly Part[] | { readonly file: FileOutput } | JsonValue;

/**
 * An event that an Observable may emit instead of output. `working` with a `message` is a status; `completed` ends the run, `failed` and `rejected` end it with the
 * text of the message. `final` ends it as well. The text of a question belongs into `task.ask`: `input-required` is refused.
 */
export interface StatusUpdate {
  readonly type: "status-update";
  readonly state: string;
  readonly final?: boolean | undefined;
  readonly message?: string | readonly Part[] | undefined;
}

/** An event that an Observable may emit instead of output: a piece of an artifact. Without `append` it begins the artifact anew. */
export interface ArtifactChunk {
  readonly type: "artifact-chunk";
  /** The id and the name of the artifact. */
  readonly artifactId: string;
  readonly chunk: Output;
  readonly append?: boolean | undefined;
  readonly lastChunk?: boolean | undefined;
}

/** What `run` may return: a promise of the result, or a generator or Observable of chunks. Return nothing if `run` writes its artifacts itself. */
export type RunResult<Produced = Output> =
  | Promise<Produced | void>
  | AsyncIterable<Produced, void>
  | ObservableLike<Produced>
  | Promise<AsyncIterable<Produced, void> | ObservableLike<Produced>>;

/** An Observable, for example of RxJS: only `subscribe` is used. */
export interface ObservableLike<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}
