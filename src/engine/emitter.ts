import { AsyncLocalStorage } from "node:async_hooks";
import type { ArtifactId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Part } from "../protocol/part.ts";
import type { ArtifactOptions } from "./agent.ts";
import { partFingerprint, statusFingerprint, writeNote } from "./note.ts";
import type { KeptPiece, Replay } from "./replay.ts";
import type { TaskWriter } from "./task-writer.ts";

export interface ArtifactTarget extends ArtifactOptions {
  readonly id: ArtifactId;
  readonly name: string;
}

export interface EmitterOptions {
  readonly writer: TaskWriter;
  /** What earlier attempts of this turn wrote; absent on the first. */
  readonly replay: Replay | undefined;
  /** Events are changed before they are written, so their texts do not tell what the author wrote. */
  readonly transforms: boolean;
}

/** The step at work. It names its emitter too: a step may call an agent of the same process, whose output is not the step's. */
const STEP = new AsyncLocalStorage<{ readonly emitter: Emitter; readonly step: string }>();
/** Restarted content goes out in events of about this size. */
const RESTART_BYTES = 64 * 1024;

/**
 * What one attempt writes, in the order of its calls. Without a replay it goes straight to the writer; with one, what the
 * log holds already is passed over.
 */
export class Emitter {
  readonly #options: EmitterOptions;
  readonly #targets = new Map<ArtifactId, ArtifactTarget>();
  /** Keeps the order of calls while a restart reads the log. */
  #chain: Promise<void> = Promise.resolve();
  #chained = 0;

  constructor(options: EmitterOptions) {
    this.#options = options;
  }

  status(parts: readonly Part[] | undefined, metadata: JsonObject | undefined): Promise<void> {
    const step = this.#currentStep();
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
    const step = this.#currentStep();
    this.#targets.set(target.id, target);
    return this.#inOrder(() => this.#write(target, parts, { step, last }));
  }

  /** Completes an artifact that has its content already. */
  complete(target: ArtifactTarget): Promise<void> {
    return this.#inOrder(() => {
      this.#options.writer.completeArtifact(target.id);
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
    return this.#inOrder(() => {
      for (const [id, parts] of replay.passStep(step)) this.#append(this.#target(id), parts, { step, last: false });
      return undefined;
    });
  }

  /** The attempt is over: artifacts of which the log holds more than it produced are restarted. */
  async finish(): Promise<void> {
    const { replay, writer } = this.#options;
    await this.#chain;
    if (replay === undefined) return;
    for (const id of replay.unmatched()) {
      const kept = await replay.restart(id);
      // An artifact has at least one part, even one that turned out empty.
      this.#restart(this.#target(id), kept.length > 0 ? kept : [{ parts: [{ text: "" }], base: false, step: undefined }]);
      await writer.room();
    }
  }

  #write(target: ArtifactTarget, parts: readonly Part[], origin: { step: string | undefined; last: boolean }): Promise<void> | undefined {
    const { replay } = this.#options;
    if (replay === undefined) {
      this.#append(target, parts, origin);
      return undefined;
    }
    const { matched, diverged } = replay.matchParts(target.id, parts.map(partFingerprint));
    const rest = parts.slice(matched);
    if (diverged) {
      return replay.restart(target.id).then((kept) => {
        this.#restart(target, kept);
        this.#append(target, rest, { ...origin, ...(kept.length === 0 && { replace: true }) });
      });
    }
    if (rest.length > 0) this.#append(target, rest, origin);
    return undefined;
  }

  #append(target: ArtifactTarget, parts: readonly Part[], origin: { step: string | undefined; last: boolean; replace?: boolean; base?: boolean }): void {
    const { writer, transforms } = this.#options;
    const append = origin.replace !== true && writer.hasArtifact(target.id);
    const note = writeNote({
      ...(origin.step !== undefined && { s: origin.step }),
      ...(origin.base === true && { b: 1 as const }),
      ...(transforms && { d: parts.map(partFingerprint) }),
    });
    writer.artifact(
      {
        kind: "artifact",
        artifact: {
          artifactId: target.id,
          ...(!append && { name: target.name }),
          ...(!append && target.description !== undefined && { description: target.description }),
          parts,
          ...(!append && target.extensions !== undefined && { extensions: target.extensions }),
          ...(!append && target.metadata !== undefined && { metadata: target.metadata }),
        },
        append,
        lastChunk: origin.last,
      },
      note,
    );
  }

  #restart(target: ArtifactTarget, kept: readonly KeptPiece[]): void {
    let replace = true;
    for (const piece of kept) {
      for (const parts of inEventsOf(piece.parts, RESTART_BYTES)) {
        this.#append(target, parts, { step: piece.step, base: piece.base, last: false, replace });
        replace = false;
      }
    }
  }

  #currentStep(): string | undefined {
    const current = STEP.getStore();
    return current?.emitter === this ? current.step : undefined;
  }

  #target(id: ArtifactId): ArtifactTarget {
    return this.#targets.get(id) ?? { id, name: id };
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

const DONE: Promise<void> = Promise.resolve();

function* inEventsOf(parts: readonly Part[], bytes: number): Generator<readonly Part[]> {
  let event: Part[] = [];
  let size = 0;
  for (const part of parts) {
    const length = JSON.stringify(part).length;
    if (event.length > 0 && size + length > bytes) {
      yield event;
      event = [];
      size = 0;
    }
    event.push(part);
    size += length;
  }
  if (event.length > 0) yield event;
}
