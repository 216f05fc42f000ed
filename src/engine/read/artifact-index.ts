import type { ArtifactId } from "../../protocol/ids.ts";
import type { LogEntry } from "../../store/contract.ts";
import { readChunk } from "./artifact-chunk.ts";
import { isStatusBody } from "./log-view.ts";

/** Where in a log an artifact is. */
export interface ArtifactSpan {
  readonly artifactId: ArtifactId;
  /** The event that began it, or that replaced it last. */
  first: number;
  last: number;
  /** About how many bytes its events have. */
  bytes: number;
  /** By each member other than id and parts: the last event that sets it. */
  members: Map<string, number>;
}

/** Where the artifacts of a log are, found without keeping what they contain. Feed it events in order. */
export class ArtifactIndex {
  readonly #spans = new Map<string, ArtifactSpan>();

  add({ seq, body }: Pick<LogEntry, "seq" | "body">): void {
    const chunk = isStatusBody(body) ? undefined : readChunk(body);
    if (chunk === undefined) return;
    let span = this.#spans.get(chunk.artifactId);
    if (span === undefined || !chunk.append) {
      // Replacing an artifact leaves it at its place among the others.
      const artifactId = chunk.artifactId as ArtifactId; // It was one when it was written.
      span = { artifactId, first: seq, last: seq, bytes: 0, members: new Map() };
      this.#spans.set(artifactId, span);
    }
    span.last = seq;
    span.bytes += body.length;
    for (const name of Object.keys(chunk.members ?? {})) span.members.set(name, seq);
  }

  /** In the order in which the artifacts first appeared. */
  spans(): readonly ArtifactSpan[] {
    return Array.from(this.#spans.values());
  }
}
