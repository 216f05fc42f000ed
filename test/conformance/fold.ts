import type { Artifact, Frame, Part } from "./neutral.ts";

/** Folds the frames of a stream into a task's artifacts, by the rules of the protocol. */
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
  return Array.from(artifacts.values(), (artifact) => ({ ...artifact, parts: mergedTexts(artifact.parts) }));
}

/** Adjacent text chunks become one part; the empty chunk that closes an artifact becomes none. */
function mergedTexts(parts: readonly Part[]): readonly Part[] {
  const isText = (part: Part | undefined): boolean =>
    part !== undefined && part.text !== undefined && Object.keys(part).length === 1;
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (isText(part) && last !== undefined && part.text === "") continue;
    if (isText(part) && isText(last)) merged.splice(-1, 1, { text: `${last?.text}${part.text}` });
    else merged.push(part);
  }
  return merged;
}

/** The states of a stream, from its first frame on. */
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
