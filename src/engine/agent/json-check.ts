import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** Objects that JSON changes or loses. */
type NotPlain =
  | Date
  | RegExp
  | Error
  | URL
  | ArrayBuffer
  | ArrayBufferView
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | PromiseLike<unknown>;

type IsAny<T> = 0 extends 1 & T ? true : false;

/**
 * `never` if JSON represents `T` without loss; otherwise a sentence that the compiler prints. Works for interfaces and type aliases. Checks 5 levels;
 * deeper levels are checked at run time.
 */
export type JsonProblem<T, Depth extends readonly unknown[] = []> =
  IsAny<T> extends true
    ? never
    : unknown extends T
      ? never
      : Depth["length"] extends 5
        ? never
        : T extends JsonValue | undefined | void
          ? never
          : T extends bigint | symbol
            ? "JSON cannot represent a bigint or a symbol: return a string or a number."
            : T extends (...args: never[]) => unknown
              ? "JSON cannot represent a function: return plain data."
              : T extends NotPlain
                ? "JSON cannot represent this kind of object (Date, Map, Set, bytes, class instances): return plain data."
                : T extends readonly (infer Element)[]
                  ? JsonProblem<Element, [...Depth, 0]>
                  : T extends object
                    ? { [Key in keyof T]-?: JsonProblem<T[Key], [...Depth, 0]> }[keyof T]
                    : never;

/** A member that no value has, so that the compiler prints the reason. */
interface Refused<Reason> {
  readonly refusedBecause: Reason;
}

/** For intersections: `unknown` if JSON represents `T`; otherwise a type that no value has, which makes the compiler print the reason. */
export type OnlyJson<T> = [JsonProblem<T>] extends [never] ? unknown : Refused<JsonProblem<T>>;

/** `never` if an agent may produce `T`; otherwise a sentence that the compiler prints. */
export type OutputProblem<T> =
  IsAny<T> extends true
    ? never
    : T extends Part | readonly Part[]
      ? never
      : T extends { readonly file: infer File }
        ? FileProblem<File>
        : JsonProblem<T>;

type FileProblem<File> =
  IsAny<File> extends true
    ? never
    : File extends { readonly bytes: infer Bytes }
      ? Bytes extends Uint8Array
        ? never
        : "file.bytes must be a Uint8Array. For text: new TextEncoder().encode(text)."
      : File extends { readonly url: infer Address }
        ? Address extends string
          ? never
          : "file.url must be a string."
        : JsonProblem<{ readonly file: File }>;

/** As {@link OnlyJson}, for the output of an agent. */
export type OnlyOutput<T> = [OutputProblem<T>] extends [never] ? unknown : Refused<OutputProblem<T>>;
