import type { Artifact, Frame } from "./neutral.ts";

/** What a stream's frames make of a task's artifacts, put together as the protocol says. */
export function foldArtifacts(frames: readonly Frame[]): readonly Artifact[] {
  const artifacts = new Map<string, Artifact>();
  for (const frame of frames) {
    if (frame.kind === "task")
      for (const artifact of frame.task.artifacts ?? []) artifacts.set(artifact.artifactId, artifact);
    if (frame.kind !== "artifact") continue;
    const { artifact, append } = frame;
    const before = artifacts.get(artifact.artifactId);
    const appended = append && before !== undefined;
    artifacts.set(
      artifact.artifactId,
      appended ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact,
    );
  }
  return [...artifacts.values()];
}

/** What a stream tells of states, from its first frame on. */
export function statesOf(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap((frame) => {
    if (frame.kind === "task") return [frame.task.status.state];
    return frame.kind === "status" ? [frame.status.state] : [];
  });
}

export function kindsOf(frames: readonly Frame[]): readonly string[] {
  return frames.map(({ kind }) => kind);
}

/** The texts of a stream's artifact events, joined. */
export function streamedText(frames: readonly Frame[]): string {
  return frames
    .flatMap((frame) => (frame.kind === "artifact" ? frame.artifact.parts.map((part) => part.text ?? "") : []))
    .join("");
}
