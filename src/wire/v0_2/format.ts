import type { Part } from "../../protocol/part.ts";
import { OFFICIAL, type OutputFormat } from "../v0_3/format.ts";
import { partObject } from "../v0_3/part.ts";
import { packDataAsText } from "../v0_3/part-metadata.ts";

/** As the next version writes, except for data that is no object: its JSON is a text, as in the examples of 0.2 (section 9.7). */
export const OUTPUT_FORMAT: OutputFormat = { ...OFFICIAL, name: "0.2", part: partOf };

function partOf(part: Part): object {
  const text = part.data === undefined ? undefined : packDataAsText(part);
  return text === undefined ? partObject(part) : { kind: "text", ...text };
}
