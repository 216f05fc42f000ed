import type { JsonObject } from "../../protocol/json.ts";

/** The base class of LangGraph's checkpoint savers. It brings the serializer, which knows the classes of LangChain. */
export type CheckpointSaverClass = abstract new () => { readonly serde: Serializer };

interface Serializer {
  dumpsTyped(value: unknown): Promise<readonly [string, Uint8Array | string]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/** A value as the serializer wrote it: its type and its text; bytes are in Base64. */
type Serialized = readonly [type: string, text: string, isBase64: boolean];

/** One call of the saver, as it is stored. */
export interface SaverEntry extends JsonObject {
  /** The namespace of a subgraph; empty for the graph itself. */
  readonly ns: string;
  /** Id of the checkpoint. Ids grow with time. */
  readonly id: string;
  /** Of a checkpoint. */
  readonly checkpoint?: { readonly value: Serialized; readonly metadata: Serialized; readonly parent: string };
  /** Of a node that has finished or was interrupted after the checkpoint. */
  readonly write?: {
    readonly task: string;
    readonly index: number;
    readonly channel: string;
    readonly value: Serialized;
  };
}

interface SaverConfig {
  readonly configurable?: {
    readonly thread_id?: string;
    readonly checkpoint_ns?: string;
    readonly checkpoint_id?: string;
  };
}

/** What LangGraph gets for a checkpoint. */
interface Tuple {
  readonly config: SaverConfig;
  readonly checkpoint: unknown;
  readonly metadata: unknown;
  readonly parentConfig?: SaverConfig;
  readonly pendingWrites: readonly (readonly [task: string, channel: string, value: unknown])[];
}

/** Keeps the checkpoints of one turn in memory, as entries that can be stored with the task. */
export interface TurnSaver {
  /**
   * The entries that were not taken before. With the id of a checkpoint: only those that are needed to continue from it, because the graph may be
   * ahead of its stream.
   */
  take(upTo?: string): readonly SaverEntry[];
}

/** Channels of LangGraph that have one value per node. All others are numbered in the order of the writes. */
const SINGLE_CHANNELS = ["__error__", "__scheduled__", "__interrupt__", "__resume__"];

/** Creates a saver that contains the stored entries. */
export function createTurnSaver(base: CheckpointSaverClass, stored: readonly SaverEntry[]): TurnSaver {
  class StoredTurn extends base implements TurnSaver {
    readonly #entries: SaverEntry[] = [...stored];
    #untaken: SaverEntry[] = [];

    take(upTo?: string): readonly SaverEntry[] {
      const isNeeded = ({ ns, id, checkpoint }: SaverEntry): boolean =>
        upTo === undefined || (ns === "" && (checkpoint === undefined ? id < upTo : id <= upTo));
      const taken = this.#untaken.filter(isNeeded);
      this.#untaken = this.#untaken.filter((entry) => !isNeeded(entry));
      return taken;
    }

    async put(config: SaverConfig, checkpoint: { readonly id: string }, metadata: unknown): Promise<SaverConfig> {
      const { thread_id = "", checkpoint_ns: ns = "", checkpoint_id: parent = "" } = config.configurable ?? {};
      const [value, described] = await Promise.all([this.#dump(checkpoint), this.#dump(metadata)]);
      this.#add({ ns, id: checkpoint.id, checkpoint: { value, metadata: described, parent } });
      return { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
    }

    async putWrites(config: SaverConfig, writes: readonly (readonly [string, unknown])[], task: string): Promise<void> {
      const { checkpoint_ns: ns = "", checkpoint_id: id = "" } = config.configurable ?? {};
      const values = await Promise.all(writes.map(([, value]) => this.#dump(value)));
      for (const [order, [channel]] of writes.entries()) {
        const value = values[order];
        if (value === undefined) continue;
        const single = SINGLE_CHANNELS.indexOf(channel);
        this.#add({ ns, id, write: { task, index: single === -1 ? order : -1 - single, channel, value } });
      }
    }

    async getTuple({ configurable = {} }: SaverConfig): Promise<Tuple | undefined> {
      const { thread_id: thread = "", checkpoint_ns: ns = "", checkpoint_id: id } = configurable;
      const found = this.#checkpoints(ns).find((entry) => id === undefined || entry.id === id);
      return found === undefined ? undefined : this.#tuple(found, thread);
    }

    async *list(
      { configurable = {} }: SaverConfig,
      { before, limit = Number.POSITIVE_INFINITY }: { readonly before?: SaverConfig; readonly limit?: number } = {},
    ): AsyncGenerator<Tuple> {
      const { thread_id: thread = "", checkpoint_ns: ns = "", checkpoint_id: only } = configurable;
      const end = before?.configurable?.checkpoint_id;
      const found = this.#checkpoints(ns).filter(
        ({ id }) => (only === undefined || id === only) && (end === undefined || id < end),
      );
      for (const entry of found.slice(0, limit)) yield await this.#tuple(entry, thread);
    }

    async deleteThread(): Promise<void> {
      this.#entries.length = 0;
    }

    #add(entry: SaverEntry): void {
      this.#entries.push(entry);
      this.#untaken.push(entry);
    }

    /** The latest first. */
    #checkpoints(ns: string): readonly SaverEntry[] {
      return this.#entries
        .filter((entry) => entry.ns === ns && entry.checkpoint !== undefined)
        .toSorted((one, other) => (one.id < other.id ? 1 : -1));
    }

    async #tuple({ ns, id, checkpoint }: SaverEntry, thread: string): Promise<Tuple> {
      if (checkpoint === undefined) throw new Error("The stored entry is not a checkpoint.");
      const config = (checkpointId: string): SaverConfig => ({
        configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: checkpointId },
      });
      return {
        config: config(id),
        checkpoint: await this.#load(checkpoint.value),
        metadata: await this.#load(checkpoint.metadata),
        ...(checkpoint.parent !== "" && { parentConfig: config(checkpoint.parent) }),
        pendingWrites: await this.#writes(ns, id),
      };
    }

    async #writes(ns: string, id: string): Promise<Tuple["pendingWrites"]> {
      const byPlace = new Map<string, NonNullable<SaverEntry["write"]>>();
      for (const { write, ...place } of this.#entries) {
        if (write === undefined || place.ns !== ns || place.id !== id) continue;
        const key = `${write.task},${write.index}`;
        // A node that runs again does not change what it has written, but may be interrupted or resumed again.
        if (write.index < 0 || !byPlace.has(key)) byPlace.set(key, write);
      }
      return Promise.all(
        Array.from(
          byPlace.values(),
          async ({ task, channel, value }) => [task, channel, await this.#load(value)] as const,
        ),
      );
    }

    async #dump(value: unknown): Promise<Serialized> {
      const [type, data] = await this.serde.dumpsTyped(value);
      if (typeof data === "string") return [type, data, false];
      const isJson = type === "json";
      return [type, Buffer.from(data).toString(isJson ? "utf8" : "base64"), !isJson];
    }

    #load([type, text, isBase64]: Serialized): Promise<unknown> {
      return this.serde.loadsTyped(type, isBase64 ? Buffer.from(text, "base64") : Buffer.from(text));
    }
  }
  return new StoredTurn();
}
