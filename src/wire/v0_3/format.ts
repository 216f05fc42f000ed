import type { Part } from "../../protocol/part.ts";
import { partObject } from "./part.ts";

/** How tasks, messages and events of this vocabulary are written, where its versions and settings differ. */
export interface OutputFormat {
  /** Tells its cached texts from those of other ways to write an event. */
  readonly name: string;
  readonly part: (part: Part) => object;
  /** A status message repeats `metadata.inputRequest` as a member `inputRequest` of its own. */
  readonly inputRequest: boolean;
  /** A status message repeats `metadata.referenceTaskIds` of its event as its own `referenceTaskIds`. */
  readonly references: boolean;
}

/** Nothing but what the version defines. */
export const OFFICIAL: OutputFormat = { name: "0.3", part: partObject, inputRequest: false, references: false };

/** Adds the members in which some clients of 0.3 look for what a task asks, and for the tasks of other agents it used. */
export const LENIENT: OutputFormat = { name: "0.3 lenient", part: partObject, inputRequest: true, references: true };

/** How a server with this setting writes 0.3. */
export function outputFormatOf({ lenient }: { readonly lenient: boolean | undefined }): OutputFormat {
  return lenient === false ? OFFICIAL : LENIENT;
}
