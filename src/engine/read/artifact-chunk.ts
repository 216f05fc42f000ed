import type { Artifact } from "../../protocol/artifact.ts";
import { readEvent } from "../../protocol/serial.ts";

/** What a stored artifact event adds. */
export interface ArtifactChunk {
  readonly artifactId: string;
  readonly append: boolean;
  /** The parts in their stored spelling, separated by commas; may be empty. */
  readonly parts: string;
  /** The other members the event sets, if any. */
  readonly members?: Omit<Artifact, "artifactId" | "parts">;
}

const BEGINS = '{"artifact":{"artifactId":"';
const PARTS = '","parts":[';
/** What follows the last part of an event that only appends parts. Begins with that part's closing brace. */
const ENDS = ['}]},"append":true}', '}]},"append":true,"lastChunk":true}'];

/**
 * Reads an artifact event; `undefined` for a status. Events that only append parts, which large artifacts are made of, are cut apart
 * and not parsed: the stored spelling is compact JSON whose members have one order.
 */
export function readChunk(body: string): ArtifactChunk | undefined {
  return cutChunk(body) ?? parseChunk(body);
}

function cutChunk(body: string): ArtifactChunk | undefined {
  if (!body.startsWith(BEGINS)) return undefined;
  const idEnd = body.indexOf('"', BEGINS.length);
  if (!body.startsWith(PARTS, idEnd)) return undefined;
  const end = ENDS.find((text) => body.endsWith(text));
  if (end === undefined) return undefined;
  const artifactId = body.slice(BEGINS.length, idEnd);
  if (artifactId.includes("\\")) return undefined;
  return { artifactId, append: true, parts: body.slice(idEnd + PARTS.length, body.length - end.length + 1) };
}

function parseChunk(body: string): ArtifactChunk | undefined {
  const event = readEvent(body);
  if (event.kind !== "artifact") return undefined;
  const { artifactId, parts, ...members } = event.artifact;
  const text = JSON.stringify(parts).slice(1, -1);
  return { artifactId, append: event.append, parts: text, members };
}
