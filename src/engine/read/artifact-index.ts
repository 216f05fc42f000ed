import type { ArtifactId } from "../../protocol/ids.ts";
import type { LogEntry } from "../../store/contract.ts";
import { readChunk } from "./artifact-chunk.ts";
import { isStatusBody } from "./log-view.ts";

/** The events of an artifact in a log. `first`, `last` and the values of `members` are seqs. */
export interface ArtifactSpan {
  readonly artifactId: ArtifactId;
  /** The event that created the artifact or replaced it last. */
  first: number;
  last: number;
  /** Size of its events. */
  bytes: number;
  /** By member, except id and parts: the last event that sets it. */
  members: Map<string, number>;
}

/** Finds the events of each artifact in a log, without keeping their content. Add the events in order. */
export class ArtifactIndex {
  readonly #spans = new Map<string, ArtifactSpan>();

  add({ seq, body }: Pick<LogEntry, "seq" | "body">): void {
    const chunk = isStatusBody(body) ? undefined : readChunk(body);
    if (chunk === undefined) return;
    let span = this.#spans.get(chunk.artifactId);
    if (span === undefined || !chunk.append) {
      // A replaced artifact keeps its place in the order. Safe: it was an ArtifactId when it was stored.
      const artifactId = chunk.artifactId as ArtifactId;
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
