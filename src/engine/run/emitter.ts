import { AsyncLocalStorage } from "node:async_hooks";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { ArtifactOptions } from "../agent/agent.ts";
import { partFingerprint, statusFingerprint, writeNote } from "../log/note.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { isAligned, type KeptPiece, type Replay } from "./replay.ts";

export interface ArtifactTarget extends ArtifactOptions {
  readonly id: ArtifactId;
  readonly name: string | undefined;
}

/** Options as text: the author may change an object and give it again. */
type OptionTexts = Partial<Record<keyof ArtifactOptions, string>>;

/** The options that an artifact has by now. */
interface GivenOptions {
  /** The target that was written to last; its further writes change nothing. */
  readonly target: ArtifactTarget;
  readonly texts: OptionTexts;
}

interface Origin {
  readonly step: string | undefined;
  readonly last: boolean;
  /** Of earlier turns. */
  readonly base?: boolean;
  readonly replace?: boolean;
  /** Of the target's options, those that earlier writes of this attempt did not give, or gave otherwise. */
  readonly changed?: ArtifactOptions | undefined;
  /** With `replace`: how often the author has replaced it in this turn. */
  readonly generation?: number;
  /** The parts come from the log, transformed already; these are the fingerprints of what the author wrote. */
  readonly written?: readonly string[];
}

export interface EmitterOptions {
  readonly writer: TaskLogWriter;
  /** What earlier attempts of this turn wrote; absent on the first. */
  readonly replay: Replay | undefined;
  /** Events are changed before they are written, so their texts do not tell what the author wrote. */
  readonly transforms: boolean;
}

/** The step at work. It names its emitter too: a step may call an agent of the same process, whose output is not the step's. */
const STEP = new AsyncLocalStorage<{ readonly emitter: Emitter; readonly step: string }>();
const PLAIN: Origin = { step: undefined, last: false };
/** What there is nothing to wait for resolves with. */
export const DONE: Promise<never> = Promise.resolve() as Promise<never>;
/** Restarted content goes out in events of about this size. */
const RESTART_BYTES = 64 * 1024;

/**
 * What one attempt writes, in the order of its calls. Without a replay it goes straight to the writer; with one, what the
 * log holds already is passed over.
 */
export class Emitter {
  readonly #options: EmitterOptions;
  /** Only what a replay may have to restart need be known by its id. */
  readonly #targets: Map<ArtifactId, ArtifactTarget> | undefined;
  /** How often each artifact was replaced, where there is no replay to know it. */
  #generations: Map<ArtifactId, number> | undefined;
  /** The options that were last given for each artifact; of artifacts without options nothing. */
  #given: Map<ArtifactId, GivenOptions> | undefined;
  /** Keeps the order of calls while a restart reads the log. */
  #chain: Promise<void> = Promise.resolve();
  #chained = 0;

  constructor(options: EmitterOptions) {
    this.#options = options;
    this.#targets = options.replay === undefined ? undefined : new Map();
  }

  status(parts: readonly Part[] | undefined, metadata: JsonObject | undefined): Promise<void> {
    const step = this.currentStep;
    return this.#inOrder(() => {
      const { writer, replay, transforms } = this.#options;
      const fingerprint = replay !== undefined || transforms ? statusFingerprint(parts, metadata) : "";
      if (replay?.matchStatus(fingerprint) === true) return undefined;
      const note = writeNote({ ...(step !== undefined && { s: step }), ...(transforms && { d: [fingerprint] }) });
      writer.status("working", {
        ...(parts !== undefined && { parts }),
        ...(metadata !== undefined && { metadata }),
        ...(note !== undefined && { note }),
      });
      return undefined;
    });
  }

  write(target: ArtifactTarget, parts: readonly Part[], last: boolean): Promise<void> {
    const step = this.currentStep;
    const changed = this.#changedOptions(target);
    const origin: Origin = step === undefined && !last && changed === undefined ? PLAIN : { step, last, changed };
    if (this.#options.replay === undefined && this.#chained === 0) {
      this.#append(target, parts, origin);
      return this.#options.writer.room() ?? DONE;
    }
    this.#targets?.set(target.id, target);
    return this.#inOrder(() => this.#write(target, parts, origin));
  }

  /** Writes the artifact anew, because its author wants it so. */
  replace(target: ArtifactTarget, parts: readonly Part[]): Promise<void> {
    const step = this.currentStep;
    const changed = this.#changedOptions(target);
    this.#targets?.set(target.id, target);
    return this.#inOrder(() => {
      const { replay } = this.#options;
      if (replay?.reachReplace(target.id) === true) return this.#write(target, parts, { step, last: false, changed });
      const generation = replay?.replace(target.id) ?? this.#nextGeneration(target.id);
      this.#append(target, parts, { step, last: false, replace: true, generation });
      return undefined;
    });
  }

  #optionsDiffer(target: ArtifactTarget): boolean {
    const { description, extensions, metadata } = target;
    if (description === undefined && extensions === undefined && metadata === undefined) return false;
    const given = this.#given?.get(target.id);
    return given?.target !== target && Object.keys(changesOf(given, target)).length > 0;
  }

  /** Notes the target's options as given; returns those that are new. */
  #changedOptions(target: ArtifactTarget): ArtifactOptions | undefined {
    if (!this.#optionsDiffer(target)) return undefined;
    const given = this.#given?.get(target.id);
    const changed = changesOf(given, target);
    this.#given ??= new Map();
    this.#given.set(target.id, { target, texts: { ...given?.texts, ...textsOf(target) } });
    return changed;
  }

  #nextGeneration(id: ArtifactId): number {
    this.#generations ??= new Map();
    const generation = (this.#generations.get(id) ?? 0) + 1;
    this.#generations.set(id, generation);
    return generation;
  }

  /** Completes an artifact that has its content already. */
  complete(target: ArtifactTarget): Promise<void> {
    const { writer } = this.#options;
    // A chunk without content carries the options that nothing else would carry.
    if (writer.hasArtifact(target.id) && this.#optionsDiffer(target)) return this.write(target, [{ text: "" }], true);
    return this.#inOrder(() => {
      const { writer, replay } = this.#options;
      // Where the log goes on with the artifact, the mark is in it already, before what is not produced again yet.
      if (replay?.isBehind(target.id) !== true) writer.completeArtifact(target.id);
      return undefined;
    });
  }

  /** Runs a step's function, so that what it writes is known to be the step's. */
  within<T>(step: string, work: () => T): T {
    return STEP.run({ emitter: this, step }, work);
  }

  /** A remembered step was reached instead of run. */
  passStep(step: string): Promise<void> {
    const { replay } = this.#options;
    if (replay === undefined) return Promise.resolve();
    return this.#inOrder(() =>
      replay.passStep(step)?.then((owed) => {
        for (const { id, kept, replaces } of owed)
          this.#writeKept(this.#target(id), kept, replaces ? replay.replace(id) : undefined);
      }),
    );
  }

  /** The attempt is over: artifacts of which the log holds more than it produced are restarted. */
  finish(): Promise<void> {
    const { replay, writer } = this.#options;
    if (replay === undefined) return this.#chain;
    return this.#inOrder(async () => {
      for (const id of replay.unmatched()) {
        await this.#restart(this.#target(id), [], { step: undefined, last: false });
        await writer.room();
      }
    });
  }

  #write(target: ArtifactTarget, parts: readonly Part[], origin: Origin): Promise<void> | undefined {
    const { replay } = this.#options;
    if (replay === undefined) {
      this.#append(target, parts, origin);
      return undefined;
    }
    const { matched, diverged } = replay.matchParts(target.id, parts);
    const rest = parts.slice(matched);
    if (diverged) return this.#restart(target, rest, origin);
    if (rest.length > 0) this.#append(target, rest, origin);
    return undefined;
  }

  /**
   * Writes the artifact anew: what this attempt has produced of it, then `rest`. All of it is handed over at once and so is committed at
   * once: after half of it, what earlier turns and remembered steps wrote would be lost.
   */
  async #restart(target: ArtifactTarget, rest: readonly Part[], origin: Origin): Promise<void> {
    const { replay } = this.#options;
    if (replay === undefined) return;
    const { particulars, kept, begun, generation } = await replay.restart(target.id);
    const whole: ArtifactTarget = { ...particulars, ...target, name: target.name ?? particulars?.name };
    this.#writeKept(whole, kept, generation);
    const added = [...begun, ...rest];
    // An artifact has at least one part, even one that turned out empty.
    if (kept.length === 0 && added.length === 0) added.push({ text: "" });
    if (added.length > 0) this.#append(whole, added, { ...origin, replace: kept.length === 0, generation });
  }

  /** With a `generation`, in the place of what is there. */
  #writeKept(target: ArtifactTarget, kept: readonly KeptPiece[], generation: number | undefined): void {
    let isFirst = generation !== undefined;
    for (const piece of kept) {
      for (const event of inEventsOf(piece, RESTART_BYTES)) {
        this.#append(target, event.parts, {
          step: piece.step,
          base: piece.base,
          last: false,
          replace: isFirst,
          ...(generation !== undefined && { generation }),
          written: event.fingerprints,
        });
        isFirst = false;
      }
    }
  }

  #append(target: ArtifactTarget, parts: readonly Part[], origin: Origin): void {
    const { writer, transforms } = this.#options;
    const { step, base, last, replace, generation = 0, written, changed } = origin;
    const append = replace !== true && writer.hasArtifact(target.id);
    const own = transforms || written !== undefined ? parts.map(partFingerprint) : [];
    const differs = written === undefined ? transforms : written.join() !== own.join();
    const isReplaced = replace === true && generation > 0;
    const isPlain = step === undefined && base !== true && !isReplaced && !differs;
    if (isPlain && append && written === undefined && changed === undefined) {
      // By far the most frequent event: one more chunk.
      writer.artifact({ kind: "artifact", artifact: { artifactId: target.id, parts }, append, lastChunk: last });
      return;
    }
    const note = isPlain
      ? undefined
      : writeNote({
          ...(step !== undefined && { s: step }),
          ...(base === true && { b: 1 as const }),
          ...(isReplaced && { g: generation }),
          ...(differs && { d: written ?? own }),
        });
    const { description, extensions, metadata } = append ? (changed ?? {}) : target;
    writer.artifact(
      {
        kind: "artifact",
        artifact: {
          artifactId: target.id,
          ...(!append && target.name !== undefined && { name: target.name }),
          ...(description !== undefined && { description }),
          parts,
          ...(extensions !== undefined && { extensions }),
          ...(metadata !== undefined && { metadata }),
        },
        append,
        lastChunk: last,
      },
      { ...(note !== undefined && { note }), isFinal: written !== undefined },
    );
  }

  /** The key of the step that calls; `undefined` outside of steps. */
  get currentStep(): string | undefined {
    const current = STEP.getStore();
    return current?.emitter === this ? current.step : undefined;
  }

  #target(id: ArtifactId): ArtifactTarget {
    return this.#targets?.get(id) ?? { id, name: undefined };
  }

  /** Calls at once unless an earlier call is still under way; resolves when there is room for more. */
  #inOrder(work: () => Promise<void> | undefined): Promise<void> {
    const { writer } = this.#options;
    if (this.#chained === 0) {
      const pending = work();
      if (pending === undefined) return writer.room() ?? DONE;
      return this.#link(pending);
    }
    return this.#link(this.#chain.then(work));
  }

  #link(pending: Promise<void>): Promise<void> {
    this.#chained++;
    const done = pending.then(() => this.#options.writer.room());
    // The next call waits for this one, whatever becomes of it.
    this.#chain = done.then(
      () => this.#unlink(),
      () => this.#unlink(),
    );
    return done;
  }

  #unlink(): void {
    this.#chained--;
  }
}

/** The options of `next` that were not given before, or were given otherwise. */
function changesOf(given: GivenOptions | undefined, next: ArtifactOptions): ArtifactOptions {
  const texts = textsOf(next);
  const { description, extensions, metadata } = next;
  return {
    ...(description !== undefined && texts.description !== given?.texts.description && { description }),
    ...(extensions !== undefined && texts.extensions !== given?.texts.extensions && { extensions }),
    ...(metadata !== undefined && texts.metadata !== given?.texts.metadata && { metadata }),
  };
}

function textsOf({ description, extensions, metadata }: ArtifactOptions): OptionTexts {
  return {
    ...(description !== undefined && { description }),
    ...(extensions !== undefined && { extensions: JSON.stringify(extensions) }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
}

function* inEventsOf(piece: KeptPiece, bytes: number): Generator<Pick<KeptPiece, "parts" | "fingerprints">> {
  // What cannot be told apart part by part stays one event, as it was.
  if (!isAligned(piece)) {
    yield piece;
    return;
  }
  let first = 0;
  let size = 0;
  for (const [index, part] of piece.parts.entries()) {
    const length = JSON.stringify(part).length;
    if (index > first && size + length > bytes) {
      yield slice(piece, first, index);
      first = index;
      size = 0;
    }
    size += length;
  }
  if (first < piece.parts.length) yield slice(piece, first, piece.parts.length);
}

function slice(
  { parts, fingerprints }: KeptPiece,
  from: number,
  to: number,
): Pick<KeptPiece, "parts" | "fingerprints"> {
  return { parts: parts.slice(from, to), fingerprints: fingerprints.slice(from, to) };
}
