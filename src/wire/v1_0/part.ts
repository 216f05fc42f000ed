import { invalidField } from "../../protocol/error.ts";
import { PART_CONTENTS, type Part } from "../../protocol/part.ts";
import { decodeBase64 } from "../fields/base64.ts";
import {
  asJson,
  asObject,
  asString,
  member,
  optionalJsonObject,
  optionalString,
  type WireObject,
} from "../fields/fields.ts";

/**
 * Decodes a part from a caller (A2A 1.0 §4.1.6). The neutral model has the same members, so `{"text":"Hi","mediaType":"text/plain"}` stays
 * as it is; base64 is normalised. Throws `invalid-params` unless exactly one of `text`, `raw`, `url` and `data` is present.
 */
export function decodePart(value: unknown, path: string): Part {
  const wire = asObject(value, path);
  const mediaType = optionalString(member(wire, "mediaType", "media_type"), `${path}.mediaType`);
  const filename = optionalString(member(wire, "filename"), `${path}.filename`);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  return {
    ...decodeContent(wire, path),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
    ...(metadata !== undefined && { metadata }),
  };
}

function decodeContent(wire: WireObject, path: string): Part {
  const content = contentOf(wire, path);
  const value = wire[content];
  if (content === "data") return { data: asJson(value, `${path}.data`) };
  const text = asString(value, `${path}.${content}`);
  if (content === "text") return { text };
  if (content === "raw") return { raw: decodeBase64(text, `${path}.raw`) };
  if (text === "") throw invalidField(`${path}.url`, "must not be empty");
  return { url: text };
}

/** The content member of a part. `null` counts as absent, except for `data`, where it is a value. */
function contentOf(wire: WireObject, path: string): (typeof PART_CONTENTS)[number] {
  let found: (typeof PART_CONTENTS)[number] | undefined;
  for (const content of PART_CONTENTS) {
    const value = wire[content];
    if (value === undefined || (value === null && content !== "data")) continue;
    if (found !== undefined)
      throw invalidField(path, `must have only one of text, raw, url and data, not both ${found} and ${content}`);
    found = content;
  }
  if (found === undefined) throw invalidField(path, "must have one of text, raw, url and data");
  return found;
}

/** Decodes a part from an agent. `data: null` beside another content counts as absent. */
export function decodeRemotePart(value: unknown, path: string): Part {
  const wire = asObject(value, path);
  if (wire["data"] !== null) return decodePart(wire, path);
  const { data: _unset, ...others } = wire;
  return decodePart(PART_CONTENTS.some((content) => member(others, content) !== undefined) ? others : wire, path);
}
