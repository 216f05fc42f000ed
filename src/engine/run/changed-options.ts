import type { ArtifactId } from "../../protocol/ids.ts";
import type { ArtifactOptions } from "../agent/agent.ts";

type Target = ArtifactOptions & { readonly id: ArtifactId };

/** Options as JSON text: the agent's code may change an object and pass it again. */
type OptionTexts = Partial<Record<keyof ArtifactOptions, string>>;

interface WrittenOptions {
  /** The target of the last write. Further writes to the same target change nothing. */
  readonly target: Target;
  readonly texts: OptionTexts;
}

export function hasOptions({ description, extensions, metadata }: ArtifactOptions): boolean {
  return description !== undefined || extensions !== undefined || metadata !== undefined;
}

/** Finds out which options of an artifact (description, extensions, metadata) are new, so that each is written once. */
export class ChangedOptions {
  readonly #written = new Map<ArtifactId, WrittenOptions>();

  /** Whether a write to this target has options to write. */
  differ(target: Target): boolean {
    const written = this.#written.get(target.id);
    return written?.target !== target && hasOptions(changesSince(written, target));
  }

  /** The options that no write before has written, or has written differently. They count as written from now on. */
  take(target: Target): ArtifactOptions | undefined {
    if (!this.differ(target)) return undefined;
    const written = this.#written.get(target.id);
    this.#written.set(target.id, { target, texts: { ...written?.texts, ...textsOf(target) } });
    return changesSince(written, target);
  }
}

function changesSince(written: WrittenOptions | undefined, next: ArtifactOptions): ArtifactOptions {
  const before = written?.texts;
  const texts = textsOf(next);
  const { description, extensions, metadata } = next;
  return {
    ...(description !== undefined && texts.description !== before?.description && { description }),
    ...(extensions !== undefined && texts.extensions !== before?.extensions && { extensions }),
    ...(metadata !== undefined && texts.metadata !== before?.metadata && { metadata }),
  };
}

function textsOf({ description, extensions, metadata }: ArtifactOptions): OptionTexts {
  return {
    ...(description !== undefined && { description }),
    ...(extensions !== undefined && { extensions: JSON.stringify(extensions) }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
}
