import type { Bus } from "../bus/contract.ts";
import type { Logger } from "../internal/logger.ts";
import type { Retention, Store } from "../store/contract.ts";
import type { KeptKey } from "./security/signing-keys-file.ts";
import type { Durability } from "./settings/settings.ts";

/** An open store and what belongs to it. */
export interface OpenStore {
  readonly store: Store;
  /** Encrypts sensitive answers. */
  readonly secret: Uint8Array;
  /** Where data is stored, as text for people. */
  readonly storage: string;
  /** Sends hints to the other nodes of the store. Absent: the store has only one process. */
  readonly createBus?: (logger: Logger) => Bus;
  /** The default lease in milliseconds. Absent: that of the engine. */
  readonly lease?: number;
  /** The signing keys that all nodes of the store share, as last read. Absent: they are in a file, or only in this process. */
  readonly signingKeys?: () => readonly KeptKey[];
  /** Closes the store, unless the caller opened it. */
  close(): Promise<void>;
}

/** See `ServerOptions`. */
export interface OpenStoreOptions {
  readonly durability?: Durability | undefined;
  readonly retention?: Retention | undefined;
  readonly secret?: Uint8Array | undefined;
}
