import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { EventPlace } from "../codec.ts";
import type { TextChunk } from "../text-chunk.ts";
import { EVENT_ID } from "./event-id.ts";
import { LENGTH_DELIMITED, lengthDelimited, tag, utf8, VARINT } from "./wire-format.ts";

/** Writes an event that is a text chunk. `seq`: its number in the log. */
export type TextChunkWriter = (chunk: TextChunk, place: EventPlace, seq: number) => string;

const TRUE = "\x01";

/**
 * Writes text chunks without parsing their JSON, by the field numbers of the version's messages. `stream`: the type of the events.
 * `undefined` if the type has not the fields of a text chunk.
 */
export function textChunkWriter(stream: DescMessage): TextChunkWriter | undefined {
  const update = fieldOf(stream, "artifactUpdate");
  const artifact = fieldOf(update?.message, "artifact");
  const parts = fieldOf(artifact?.message, "parts");
  const idTag = tagOf(fieldOf(artifact?.message, "artifactId"));
  const textTag = tagOf(fieldOf(parts?.message, "text"));
  const eventTag = tagOf(fieldOf(stream, EVENT_ID));
  const [updateTag, artifactTag, partsTag] = [tagOf(update), tagOf(artifact), tagOf(parts)];
  const append = flagOf(update?.message, "append");
  const last = flagOf(update?.message, "lastChunk");
  const idsOf = idsWriter(update?.message);
  if (idsOf === undefined || append === undefined || last === undefined) return undefined;
  if (updateTag === "" || artifactTag === "" || partsTag === "" || idTag === "" || textTag === "" || eventTag === "")
    return undefined;
  return (chunk, place, seq) => {
    const { body, idFrom, idTo, textFrom, textTo, isLast } = chunk;
    const part = partsTag + lengthDelimited(textTag + lengthDelimited(utf8(stringIn(body, textFrom, textTo))));
    const id = idTag + lengthDelimited(utf8(stringIn(body, idFrom, idTo)));
    const content = idsOf(place) + artifactTag + lengthDelimited(id + part) + (isLast ? append + last : append);
    return updateTag + lengthDelimited(content) + eventTag + lengthDelimited(String(seq));
  };
}

/** The fields with the ids of the task and the context, which are the same for all events of a stream. */
function idsWriter(update: DescMessage | undefined): ((place: EventPlace) => string) | undefined {
  const task = tagOf(fieldOf(update, "taskId"));
  const context = tagOf(fieldOf(update, "contextId"));
  if (task === "" || context === "") return undefined;
  const written = new WeakMap<EventPlace, string>();
  return (place) => {
    const known = written.get(place);
    if (known !== undefined) return known;
    const { taskId, contextId } = place;
    const ids = task + lengthDelimited(utf8(taskId)) + context + lengthDelimited(utf8(contextId));
    written.set(place, ids);
    return ids;
  };
}

function fieldOf(message: DescMessage | undefined, jsonName: string): DescField | undefined {
  return message?.fields.find((field) => field.jsonName === jsonName);
}

/** Of a field with a length; empty without a field. */
function tagOf(field: DescField | undefined): string {
  return field === undefined ? "" : tag(field.number, LENGTH_DELIMITED);
}

/** A field that is true. */
function flagOf(message: DescMessage | undefined, jsonName: string): string | undefined {
  const field = fieldOf(message, jsonName);
  return field && tag(field.number, VARINT) + TRUE;
}

/** The value of the JSON string whose content is between two indexes. */
function stringIn(body: string, from: number, to: number): string {
  const content = body.slice(from, to);
  return content.includes("\\") ? (JSON.parse(`"${content}"`) as string) : content;
}
