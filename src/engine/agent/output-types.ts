import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** A file that came with a message. */
export interface ReceivedFile {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** The content, where it came inline. */
  readonly bytes: Uint8Array | undefined;
  /** Where it can be had, where it came by reference. */
  readonly url: string | undefined;
}

/** A file to send: bytes inline, or a URL. */
export type FileOutput = {
  readonly name?: string;
  readonly mediaType?: string;
} & ({ readonly bytes: Uint8Array; readonly url?: never } | { readonly url: string; readonly bytes?: never });

/** What an agent may produce: a text, a part, a list of parts, a file (`{ file }`), or any JSON value, which becomes a data part. */
export type Output = string | Part | readonly Part[] | { readonly file: FileOutput } | JsonValue;

/** What a run may yield or return. A function may return nothing, having written its artifacts itself. */
export type RunResult<Produced = Output> =
  | Promise<Produced | void>
  | AsyncIterable<Produced, void>
  | ObservableLike<Produced>
  | Promise<AsyncIterable<Produced, void> | ObservableLike<Produced>>;

/** The part of an Observable that is used here (RxJS and its likes). */
export interface ObservableLike<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}
