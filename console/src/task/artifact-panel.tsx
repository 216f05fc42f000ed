import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { WireArtifact } from "../data/operator-types.ts";
import { PartCard } from "../parts/part-view.tsx";

export interface ArtifactPanelProps {
  readonly artifacts: readonly WireArtifact[];
  /** The event as of which they are shown; `undefined`: the last. */
  readonly at: number | undefined;
}

/** The artifacts of a task, now or as of an event. */
export function ArtifactPanel({ artifacts, at }: ArtifactPanelProps): JSX.Element {
  const [chosen, setChosen] = useState<string>();
  const shown = artifacts.find(({ artifactId }) => artifactId === chosen) ?? artifacts.at(-1);
  return (
    <section class="artifacts" aria-label="Artifacts">
      <div class="section-head">
        <h2>
          Artifacts <small>{at === undefined ? "now" : `as of event ${at}`}</small>
        </h2>
      </div>
      {artifacts.length === 0 && <p class="soft">None{at === undefined ? "" : " yet"}.</p>}
      {artifacts.length > 1 && (
        <div class="artifact-tabs" role="group" aria-label="Artifact">
          {artifacts.map(({ artifactId, name }) => (
            <button
              key={artifactId}
              type="button"
              aria-pressed={artifactId === shown?.artifactId}
              onClick={() => setChosen(artifactId)}
            >
              {name ?? artifactId}
            </button>
          ))}
        </div>
      )}
      {shown?.description !== undefined && <p class="soft">{shown.description}</p>}
      {shown?.parts?.map((part, index) => (
        <PartCard key={index} part={part} name={shown.name ?? shown.artifactId} />
      ))}
    </section>
  );
}
