import type { Artifact } from "../../protocol/artifact.ts";
import { readEvent } from "../../protocol/serial.ts";

/** The content of a stored artifact event. */
export interface ArtifactChunk {
  readonly artifactId: string;
  readonly append: boolean;
  /** The parts as stored JSON, separated by commas; may be empty. */
  readonly parts: string;
  /** Name, description and other members, if the event sets any. */
  readonly members?: Omit<Artifact, "artifactId" | "parts">;
}

const START = '{"artifact":{"artifactId":"';
const BEFORE_PARTS = '","parts":[';
/** The text after the last part of an event that only appends parts, beginning with the closing brace of that part. */
const ENDS = ['}]},"append":true}', '}]},"append":true,"lastChunk":true}'];

/**
 * Reads a stored artifact event; returns `undefined` for a status. Large artifacts consist of events that only append parts. Those are not parsed:
 * stored events are compact JSON with a fixed order of members, so the parts can be cut out of the text.
 */
export function readChunk(body: string): ArtifactChunk | undefined {
  return cutChunk(body) ?? parseChunk(body);
}

function cutChunk(body: string): ArtifactChunk | undefined {
  if (!body.startsWith(START)) return undefined;
  const idEnd = body.indexOf('"', START.length);
  if (!body.startsWith(BEFORE_PARTS, idEnd)) return undefined;
  const end = ENDS.find((text) => body.endsWith(text));
  if (end === undefined) return undefined;
  const artifactId = body.slice(START.length, idEnd);
  if (artifactId.includes("\\")) return undefined;
  return { artifactId, append: true, parts: body.slice(idEnd + BEFORE_PARTS.length, body.length - end.length + 1) };
}

function parseChunk(body: string): ArtifactChunk | undefined {
  const event = readEvent(body);
  if (event.kind !== "artifact") return undefined;
  const { artifactId, parts, ...members } = event.artifact;
  const text = JSON.stringify(parts).slice(1, -1);
  return { artifactId, append: event.append, parts: text, members };
}
