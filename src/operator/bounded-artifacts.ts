import type { Artifact } from "../protocol/artifact.ts";
import type { ArtifactEvent } from "../protocol/event.ts";
import type { Part } from "../protocol/part.ts";

/** Artifacts that are listed; of further ones nothing is kept. */
const MAX_ARTIFACTS = 100;
/** Characters that are kept of one artifact, and of all together. */
const MAX_CHARACTERS = 200_000;
const MAX_TOTAL = 1_000_000;

interface Kept {
  artifact: Artifact;
  /** Text parts in a row are pieces of one text. */
  parts: { part: Part; texts: string[] | undefined }[];
  characters: number;
  omitted: number;
}

/** The artifacts of a task as of an event. Long ones are cut: `omitted` says how many characters are missing. */
export class BoundedArtifacts {
  readonly #kept = new Map<string, Kept>();
  #total = 0;

  add({ artifact, append }: ArtifactEvent): void {
    const { artifactId } = artifact;
    let kept = this.#kept.get(artifactId);
    if (kept === undefined || !append) {
      if (kept === undefined && this.#kept.size >= MAX_ARTIFACTS) return;
      this.#total -= kept?.characters ?? 0;
      kept = { artifact, parts: [], characters: 0, omitted: 0 };
      this.#kept.set(artifactId, kept);
    }
    for (const part of artifact.parts) this.#addPart(kept, part);
  }

  /** Appends a text to an artifact. */
  addText(artifactId: string, text: string): void {
    const kept = this.#kept.get(artifactId);
    if (kept !== undefined) this.#addPart(kept, { text });
  }

  /** Each artifact in the form of 1.0. */
  list(): readonly object[] {
    return Array.from(this.#kept.values(), ({ artifact, parts, omitted }) => ({
      ...artifact,
      parts: parts.map(({ part, texts }) => (texts === undefined ? part : { ...part, text: joined(texts) })),
      ...(omitted > 0 && { omitted }),
    }));
  }

  #addPart(kept: Kept, part: Part): void {
    const room = Math.min(MAX_CHARACTERS - kept.characters, MAX_TOTAL - this.#total);
    if (part.text === undefined) {
      const size = (part.raw ?? part.url ?? JSON.stringify(part.data)).length;
      if (size > room) kept.omitted += size;
      else this.#keep(kept, part, size);
      return;
    }
    const { text } = part;
    const taken = text.length <= room ? text : text.slice(0, Math.max(0, room));
    kept.omitted += text.length - taken.length;
    if (taken === "" && text !== "") return;
    const last = kept.parts.at(-1);
    if (last?.texts !== undefined && isSameKind(last.part, part)) {
      last.texts.push(taken);
      kept.characters += taken.length;
      this.#total += taken.length;
    } else this.#keep(kept, { ...part, text: taken }, taken.length);
  }

  #keep(kept: Kept, part: Part, size: number): void {
    kept.parts.push({ part, texts: part.text === undefined ? undefined : [part.text] });
    kept.characters += size;
    this.#total += size;
  }
}

/** The whole text. It replaces its pieces, which may be slices that keep pages of the log in memory. */
function joined(texts: string[]): string {
  const text = texts.join("");
  texts.splice(0, texts.length, text);
  return text;
}

/** Whether two texts are pieces of one. Texts with a name are files of their own. */
function isSameKind(a: Part, b: Part): boolean {
  return a.filename === undefined && b.filename === undefined && a.mediaType === b.mediaType;
}
