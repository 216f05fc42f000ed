import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CutArtifact } from "../data/task-types.ts";
import { Choice } from "../parts/controls.tsx";
import { Notice } from "../parts/notice.tsx";
import { PartCard } from "../parts/part-view.tsx";
import { bytes } from "../text/format.ts";

export interface ArtifactPanelProps {
  readonly artifacts: readonly CutArtifact[];
  /** The event as of which they are shown; `undefined`: the last. */
  readonly at: number | undefined;
}

const WAYS = [
  ["read", "Read"],
  ["source", "Source"],
] as const;

/** The artifacts of a task, now or as of an event. */
export function ArtifactPanel({ artifacts, at }: ArtifactPanelProps): JSX.Element {
  const [chosen, setChosen] = useState<string>();
  const [way, setWay] = useState<"read" | "source">("read");
  const shown = artifacts.find(({ artifactId }) => artifactId === chosen) ?? artifacts.at(-1);
  return (
    <section class="artifacts" aria-label="Artifacts">
      <div class="section-head">
        <h2>
          Artifacts <small>{at === undefined ? "now" : `as of event ${at}`}</small>
        </h2>
        {shown !== undefined && <Choice label="Show as" options={WAYS} value={way} onChange={setWay} />}
      </div>
      {artifacts.length === 0 && <p class="soft">None{at === undefined ? "" : " yet"}.</p>}
      {artifacts.length > 1 && (
        <div class="artifact-tabs" role="group" aria-label="Artifact">
          {artifacts.map((artifact) => (
            <button
              key={artifact.artifactId}
              type="button"
              aria-pressed={artifact.artifactId === shown?.artifactId}
              onClick={() => setChosen(artifact.artifactId)}
            >
              {artifact.name ?? artifact.artifactId} <small>{bytes(sizeOf(artifact))}</small>
            </button>
          ))}
        </div>
      )}
      {shown?.description !== undefined && <p class="soft">{shown.description}</p>}
      {shown?.omitted !== undefined && (
        <Notice kind="warn">The beginning is shown; {bytes(shown.omitted)} more are not.</Notice>
      )}
      {shown?.parts?.map((part, index) => (
        <PartCard key={index} part={part} name={shown.name ?? shown.artifactId} isSource={way === "source"} />
      ))}
    </section>
  );
}

function sizeOf({ parts = [], omitted = 0 }: CutArtifact): number {
  return parts.reduce(
    (sum, { text, raw, data }) => sum + (text ?? raw ?? (data === undefined ? "" : JSON.stringify(data))).length,
    omitted,
  );
}
