import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** Objects that JSON writes as something else, or as nothing. */
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
 * `never` where JSON carries `T` as it is, else a sentence for the compiler to print. Interfaces are as good as type aliases. Looks a few
 * levels deep; what lies deeper is checked when it is written.
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
            ? "JSON cannot carry a bigint or a symbol: return a string or a number."
            : T extends (...args: never[]) => unknown
              ? "JSON cannot carry a function: return plain data."
              : T extends NotPlain
                ? "JSON does not carry this kind of object (Date, Map, Set, bytes, class instances): return plain data."
                : T extends readonly (infer Element)[]
                  ? JsonProblem<Element, [...Depth, 0]>
                  : T extends object
                    ? { [Key in keyof T]-?: JsonProblem<T[Key], [...Depth, 0]> }[keyof T]
                    : never;

/** What no value has, so that the compiler prints the reason. */
interface Refused<Reason> {
  readonly refusedBecause: Reason;
}

/** Something to intersect a type with: changes nothing where JSON carries `T`, and otherwise makes the compiler print why not. */
export type OnlyJson<T> = [JsonProblem<T>] extends [never] ? unknown : Refused<JsonProblem<T>>;

/** `never` for what an agent may produce, else a sentence. */
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

/** As {@link OnlyJson}, for what an agent produces. */
export type OnlyOutput<T> = [OutputProblem<T>] extends [never] ? unknown : Refused<OutputProblem<T>>;
