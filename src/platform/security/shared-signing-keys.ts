import { StoreError } from "../../store/contract.ts";
import type { SharedValues } from "../../store/postgres/shared-values.ts";
import type { PostgresAddress } from "../postgres-address.ts";
import { StartupError } from "../startup-error.ts";
import { infoOf, type SigningKeyInfo, type SigningKeyOptions, withNewKey, withoutKey } from "./signing-keys.ts";
import { type KeptKey, keysText, readSharedKeys } from "./signing-keys-file.ts";

/** Milliseconds after which a node notices that the keys in the store have changed. */
const CHECK_INTERVAL = 5000;
/** Other processes that change the keys at the same moment. */
const MAX_TRIES = 10;
const NAME = "signing-keys";

/** The keys in a store that several nodes share. */
export interface WatchedKeys {
  /** As last read. */
  readonly known: () => readonly KeptKey[];
  close(): void;
}

/** Reads the keys now, and every 5 seconds. If they cannot be read, those that are known stay in use: notifications must not stop. */
export async function watchSharedKeys(read: () => Promise<readonly KeptKey[]>): Promise<WatchedKeys> {
  let known = await read();
  let isReading = false;
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    read()
      .then(
        (keys) => {
          known = keys;
        },
        () => {}, // The store reports its failures itself; the next check reads again.
      )
      .finally(() => {
        isReading = false;
      });
  }, CHECK_INTERVAL);
  timer.unref();
  return { known: () => known, close: () => clearInterval(timer) };
}

/** The signing keys in a PostgreSQL store, newest first; empty if no server has made one. */
export function listSharedKeys(
  address: PostgresAddress,
  options: SigningKeyOptions,
): Promise<readonly SigningKeyInfo[]> {
  return withValues(address, async (values) => {
    const stored = await values.read(NAME);
    return stored === undefined ? [] : keysOf(stored).map((key) => infoOf(key, options));
  });
}

/** As `rotateSigningKeys`, in a PostgreSQL store. Running nodes use the new key within 5 s. */
export async function rotateSharedKeys(address: PostgresAddress, options: SigningKeyOptions): Promise<SigningKeyInfo> {
  const [current] = await changeKeys(address, (keys) => withNewKey(keys, options));
  if (current === undefined) throw new Error("The new signing key is missing.");
  return infoOf(current, options);
}

/** As `revokeSigningKey`, in a PostgreSQL store. Running nodes notice it within 5 s. */
export async function revokeSharedKey(
  address: PostgresAddress,
  kid: string,
  options: SigningKeyOptions,
): Promise<SigningKeyInfo | undefined> {
  const keys = await changeKeys(address, (before) => withoutKey(before, kid, options));
  const key = keys.find((one) => one.kid === kid);
  return key === undefined ? undefined : infoOf(key, options);
}

function changeKeys(
  address: PostgresAddress,
  change: (keys: readonly KeptKey[]) => readonly KeptKey[],
): Promise<readonly KeptKey[]> {
  return withValues(address, async (values) => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await values.read(NAME);
      const before = stored === undefined ? [] : keysOf(stored);
      const after = change(before);
      if (after === before) return after;
      if (await values.replace(NAME, stored, Buffer.from(keysText(after)))) return after;
    }
    throw new StartupError("failed", "Other processes change the signing keys at the same time. Try again.");
  });
}

function keysOf(stored: Uint8Array): readonly KeptKey[] {
  return readSharedKeys(Buffer.from(stored).toString());
}

async function withValues<T>({ url, schema }: PostgresAddress, use: (values: SharedValues) => Promise<T>): Promise<T> {
  // Loads the driver only if it is used.
  const { openSharedValues } = await import("../../store/postgres/shared-values.ts");
  let values: SharedValues | undefined;
  try {
    values = await openSharedValues({ url, schema });
    return await use(values);
  } catch (error) {
    if (error instanceof StoreError) throw new StartupError("failed", error.message, { cause: error });
    throw error;
  } finally {
    await values?.close();
  }
}
