import type { JsonObject, JsonValue } from "./json.ts";

interface PartDetails {
  /** Such as `image/png`. Absent: unknown, or plain text in a text part. */
  readonly mediaType?: string;
  /** A name, not a path. Written by the sender: check it before you use it in a file system. */
  readonly filename?: string;
  readonly metadata?: JsonObject;
}

/** Text. The members of the other kinds are declared as `never`, so that `part.text !== undefined` narrows the type. */
export interface TextPart extends PartDetails {
  readonly text: string;
  readonly raw?: never;
  readonly url?: never;
  readonly data?: never;
}

/** An inline file in standard base64. */
export interface RawPart extends PartDetails {
  readonly raw: string;
  readonly text?: never;
  readonly url?: never;
  readonly data?: never;
}

/** A file by reference. */
export interface UrlPart extends PartDetails {
  readonly url: string;
  readonly text?: never;
  readonly raw?: never;
  readonly data?: never;
}

/** Any JSON value, including `null`: check the presence of the member, not its value. */
export interface DataPart extends PartDetails {
  readonly data: JsonValue;
  readonly text?: never;
  readonly raw?: never;
  readonly url?: never;
}

/** Content of a message or an artifact. Exactly one of `text`, `raw`, `url`, `data` is present. */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** The members that hold the content of a part (A2A 1.0 §4.1.6). */
export const PART_CONTENTS = ["text", "raw", "url", "data"] as const;

/** The concatenated text of all text parts. */
export function textOf(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if (part.text !== undefined) text += part.text;
  return text;
}
