import type { Part } from "../../protocol/part.ts";
import { OFFICIAL, type OutputFormat } from "../v0_3/format.ts";
import { partObject } from "../v0_3/part.ts";
import { packDataAsText } from "../v0_3/part-metadata.ts";

/** As in 0.3, except that data other than an object becomes a text part with its JSON, as in the example of A2A 0.2 §9.7. */
export const OUTPUT_FORMAT: OutputFormat = { ...OFFICIAL, name: "0.2", part: partOf };

function partOf(part: Part): object {
  const text = part.data === undefined ? undefined : packDataAsText(part);
  return text === undefined ? partObject(part) : { kind: "text", ...text };
}
