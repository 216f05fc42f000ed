import { AsyncLocalStorage } from "node:async_hooks";
import type { ArtifactId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { ArtifactOptions } from "../agent/agent.ts";
import { ENGINE_NOTE, partFingerprint, statusFingerprint, writeNote } from "../log/note.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { Replay } from "../replay/replay.ts";
import { type ReplayedPiece, splitPiece } from "../replay/replayed-pieces.ts";
import { CallOrder, RESOLVED } from "./call-order.ts";
import { ChangedOptions, hasOptions } from "./changed-options.ts";

/** The artifact that a call writes to, with the options of that call. */
export interface ArtifactTarget extends ArtifactOptions {
  readonly id: ArtifactId;
  readonly name: string | undefined;
}

/** How a chunk is written. */
interface ChunkOptions {
  /** Key of the step that writes the chunk. */
  readonly step: string | undefined;
  readonly isLast: boolean;
  /** The content is of earlier turns. */
  readonly isEarlierTurn?: boolean;
  /** The chunk replaces what the artifact holds. */
  readonly replaces?: boolean;
  /** With `replaces`: how often the agent's code has replaced the artifact in this turn. 0: the engine restarts it. */
  readonly generation?: number;
  /** Options of the target that must be written with an appended chunk. */
  readonly changedOptions?: ArtifactOptions | undefined;
  /** The parts are from the log, transformed already. These are the fingerprints of what the agent's code wrote. */
  readonly replayedFingerprints?: readonly string[];
}

export interface EmitterOptions {
  readonly writer: TaskLogWriter;
  /** What earlier attempts of this turn wrote; absent on the first attempt. */
  readonly replay: Replay | undefined;
  /** The server has a `transform`, so the log does not show what the agent's code wrote; notes keep fingerprints of it. */
  readonly transforms: boolean;
}

/** The current step. It belongs to one emitter: a step may call an agent in the same process, whose output is not the step's. */
const STEP = new AsyncLocalStorage<{ readonly emitter: Emitter; readonly step: string }>();
const PLAIN_CHUNK: ChunkOptions = { step: undefined, isLast: false };
/** Restarted content is written in events of about this size. */
const RESTART_EVENT_BYTES = 64 * 1024;

/**
 * Writes the output of one attempt, in the order of its calls. On the first attempt of a turn everything goes to the writer. On later
 * attempts each call is compared with the log first, and only new content is written; see {@link Replay}.
 */
export class Emitter {
  readonly #options: EmitterOptions;
  /** Created with the first call that may have to wait for others. */
  #calls: CallOrder | undefined;
  /** The last target of each artifact, needed to restart it. Only with a replay. */
  readonly #targets: Map<ArtifactId, ArtifactTarget> | undefined;
  /** How often each artifact was replaced. Only without a replay, which counts too. */
  #generations: Map<ArtifactId, number> | undefined;
  #changedOptions: ChangedOptions | undefined;

  constructor(options: EmitterOptions) {
    this.#options = options;
    this.#targets = options.replay === undefined ? undefined : new Map();
  }

  /** The key of the step that is calling; `undefined` outside of steps. */
  get currentStep(): string | undefined {
    const current = STEP.getStore();
    return current?.emitter === this ? current.step : undefined;
  }

  /** Runs the function of a step. Everything it writes is marked with the step's key. */
  runInStep<T>(step: string, work: () => T): T {
    return STEP.run({ emitter: this, step }, work);
  }

  status(
    parts: readonly Part[] | undefined,
    metadata: JsonObject | undefined,
    referenceTaskIds?: readonly TaskId[],
  ): Promise<void> {
    const step = this.currentStep;
    return this.#order().run(() => {
      const { writer, replay, transforms } = this.#options;
      const fingerprint = replay !== undefined || transforms ? statusFingerprint(parts, metadata) : "";
      if (replay?.matchStatus(fingerprint) === true) return undefined;
      const note = writeNote({ step, fingerprints: transforms ? [fingerprint] : undefined });
      writer.status("working", {
        ...(parts !== undefined && { parts }),
        ...(metadata !== undefined && { metadata }),
        ...(referenceTaskIds !== undefined && { referenceTaskIds }),
        ...(note !== undefined && { note }),
      });
      return undefined;
    });
  }

  /** Writes a status that a replay does not compare with its own. `remember` stores, in the same commit, that it was written. */
  statusOnce(parts: readonly Part[], remember: () => void): Promise<void> {
    return this.#order().run(() => {
      this.#options.writer.status("working", { parts, note: ENGINE_NOTE });
      remember();
      return undefined;
    });
  }

  /** Appends to the artifact. `isLast`: the artifact is complete with it. */
  write(target: ArtifactTarget, parts: readonly Part[], isLast: boolean): Promise<void> {
    const step = this.currentStep;
    const changedOptions = this.#takeOptions(target);
    const options: ChunkOptions =
      step === undefined && !isLast && changedOptions === undefined ? PLAIN_CHUNK : { step, isLast, changedOptions };
    if (this.#options.replay === undefined && (this.#calls === undefined || this.#calls.isIdle)) {
      this.#append(target, parts, options);
      return this.#options.writer.room() ?? RESOLVED;
    }
    this.#targets?.set(target.id, target);
    return this.#order().run(() => this.#write(target, parts, options));
  }

  /** Replaces the content of the artifact. */
  replace(target: ArtifactTarget, parts: readonly Part[]): Promise<void> {
    const step = this.currentStep;
    const changedOptions = this.#takeOptions(target);
    this.#targets?.set(target.id, target);
    return this.#order().run(() => {
      const { replay } = this.#options;
      if (replay?.matchReplace(target.id) === true)
        return this.#write(target, parts, { step, isLast: false, changedOptions });
      const generation = replay?.beginGeneration(target.id) ?? this.#nextGeneration(target.id);
      this.#append(target, parts, { step, isLast: false, replaces: true, generation });
      return undefined;
    });
  }

  /** Completes the artifact without adding content. */
  complete(target: ArtifactTarget): Promise<void> {
    const { writer } = this.#options;
    // New options need a chunk that carries them.
    if (writer.hasArtifact(target.id) && this.#optionsDiffer(target)) return this.write(target, [{ text: "" }], true);
    return this.#order().run(() => {
      // If the log holds more of the artifact, it also holds the mark, at a place that this attempt has not reached yet.
      if (this.#options.replay?.isBehind(target.id) !== true) writer.completeArtifact(target.id);
      return undefined;
    });
  }

  /** A step whose result is stored is reached: writes its content to artifacts that were restarted without it. */
  reachStep(step: string): Promise<void> {
    const { replay } = this.#options;
    if (replay === undefined) return Promise.resolve();
    return this.#order().run(() =>
      replay.reachStep(step)?.then((contents) => {
        for (const { id, pieces, replaces } of contents)
          this.#writeReplayed(this.#target(id), pieces, replaces ? replay.beginGeneration(id) : undefined);
      }),
    );
  }

  /** The attempt has returned. Artifacts of which the log holds more than the attempt produced are restarted, and so become shorter. */
  finish(): Promise<void> {
    const { replay, writer } = this.#options;
    if (replay === undefined) return this.#calls?.done ?? RESOLVED;
    return this.#order().run(async () => {
      for (const id of replay.unmatched()) {
        await this.#restart(this.#target(id), [], PLAIN_CHUNK);
        await writer.room();
      }
    });
  }

  /** Writes the parts that the log does not have. */
  #write(target: ArtifactTarget, parts: readonly Part[], options: ChunkOptions): Promise<void> | undefined {
    const { replay } = this.#options;
    if (replay === undefined) {
      this.#append(target, parts, options);
      return undefined;
    }
    const { matched, diverged } = replay.matchParts(target.id, parts);
    const rest = parts.slice(matched);
    if (diverged) return this.#restart(target, rest, options);
    if (rest.length > 0) this.#append(target, rest, options);
    return undefined;
  }

  /**
   * Writes the artifact anew: what this attempt has produced of it so far, then `rest`. Everything is handed to the writer at once, and so is
   * committed together: a crash in between would lose content of earlier turns and of stored steps.
   */
  async #restart(target: ArtifactTarget, rest: readonly Part[], options: ChunkOptions): Promise<void> {
    const { replay } = this.#options;
    if (replay === undefined) return;
    const { members, replayed, partial, generation } = await replay.restart(target.id);
    const whole: ArtifactTarget = { ...members, ...target, name: target.name ?? members?.name };
    this.#writeReplayed(whole, replayed, generation);
    const added = [...partial, ...rest];
    // An artifact has at least one part (A2A 1.0, `Artifact.parts`), even if nothing is left of its content.
    if (replayed.length === 0 && added.length === 0) added.push({ text: "" });
    if (added.length > 0) this.#append(whole, added, { ...options, replaces: replayed.length === 0, generation });
  }

  /** Writes content of the log again. With a `generation`, its first event replaces what the artifact holds. */
  #writeReplayed(target: ArtifactTarget, pieces: readonly ReplayedPiece[], generation: number | undefined): void {
    let replaces = generation !== undefined;
    for (const piece of pieces) {
      for (const { parts, fingerprints } of splitPiece(piece, RESTART_EVENT_BYTES)) {
        this.#append(target, parts, {
          step: piece.step,
          isEarlierTurn: piece.isEarlierTurn,
          isLast: false,
          replaces,
          ...(generation !== undefined && { generation }),
          replayedFingerprints: fingerprints,
        });
        replaces = false;
      }
    }
  }

  #append(target: ArtifactTarget, parts: readonly Part[], options: ChunkOptions): void {
    const { writer, transforms } = this.#options;
    const { step, isEarlierTurn, isLast, replaces, generation = 0, replayedFingerprints, changedOptions } = options;
    const append = replaces !== true && writer.hasArtifact(target.id);
    const isReplayed = replayedFingerprints !== undefined;
    const fingerprints = transforms || isReplayed ? parts.map(partFingerprint) : [];
    // The log must keep fingerprints if it does not show what the agent's code wrote.
    const keepsFingerprints = isReplayed ? replayedFingerprints.join() !== fingerprints.join() : transforms;
    const isReplacedByCode = replaces === true && generation > 0;
    const needsNote = step !== undefined || isEarlierTurn === true || isReplacedByCode || keepsFingerprints;
    if (!needsNote && append && !isReplayed && changedOptions === undefined) {
      // By far the most frequent event: one more chunk.
      writer.artifact({
        kind: "artifact",
        artifact: { artifactId: target.id, parts },
        append,
        lastChunk: isLast,
      });
      return;
    }
    const note = needsNote
      ? writeNote({
          step,
          isEarlierTurn: isEarlierTurn === true,
          generation: isReplacedByCode ? generation : 0,
          fingerprints: keepsFingerprints ? (replayedFingerprints ?? fingerprints) : undefined,
        })
      : undefined;
    const { description, extensions, metadata } = append ? (changedOptions ?? {}) : target;
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
        lastChunk: isLast,
      },
      { ...(note !== undefined && { note }), isFinal: isReplayed },
    );
  }

  #order(): CallOrder {
    this.#calls ??= new CallOrder(this.#options.writer);
    return this.#calls;
  }

  #optionsDiffer(target: ArtifactTarget): boolean {
    return hasOptions(target) && this.#changes().differ(target);
  }

  #takeOptions(target: ArtifactTarget): ArtifactOptions | undefined {
    return hasOptions(target) ? this.#changes().take(target) : undefined;
  }

  #changes(): ChangedOptions {
    this.#changedOptions ??= new ChangedOptions();
    return this.#changedOptions;
  }

  #nextGeneration(id: ArtifactId): number {
    this.#generations ??= new Map();
    const generation = (this.#generations.get(id) ?? 0) + 1;
    this.#generations.set(id, generation);
    return generation;
  }

  #target(id: ArtifactId): ArtifactTarget {
    return this.#targets?.get(id) ?? { id, name: undefined };
  }
}
