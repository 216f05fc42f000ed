import type { Part } from "../../protocol/part.ts";
import { partObject } from "./part.ts";

/** How tasks, messages and events of 0.2 and 0.3 are encoded, where versions and settings differ. */
export interface OutputFormat {
  /** Key of the cached event texts; unique per format. */
  readonly name: string;
  readonly part: (part: Part) => object;
  /** A status message repeats `metadata.inputRequest` as a member `inputRequest` of its own. */
  readonly inputRequest: boolean;
  /** A status message repeats `metadata.referenceTaskIds` of its event as its own `referenceTaskIds`. */
  readonly references: boolean;
}

/** Only members that 0.3 defines. */
export const OFFICIAL: OutputFormat = { name: "0.3", part: partObject, inputRequest: false, references: false };

/** Adds the members in which some clients of 0.3 look for questions and for referenced tasks. */
export const LENIENT: OutputFormat = { name: "0.3 lenient", part: partObject, inputRequest: true, references: true };

/** The format for a server's option `lenient`. */
export function outputFormatOf({ lenient }: { readonly lenient: boolean | undefined }): OutputFormat {
  return lenient === false ? OFFICIAL : LENIENT;
}
