import { createPostgresBus } from "../bus/postgres/bus.ts";
import { openPostgresStore } from "../store/postgres/store.ts";
import type { OpenStore, OpenStoreOptions } from "./opened-store.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { newSecret } from "./security/secret.ts";
import { watchSharedKeys } from "./security/shared-signing-keys.ts";
import { readSharedKeys, sharedKeysText } from "./security/signing-keys-file.ts";

/** Milliseconds. Other nodes continue the tasks of a node that stopped, so they should not wait long. */
const LEASE = 5000;

/** Opens a PostgreSQL store, and prepares the bus and the keys that its nodes share. */
export async function openPostgres(address: PostgresAddress, options: OpenStoreOptions): Promise<OpenStore> {
  const { url, schema, text } = address;
  const { durability = "full", retention } = options;
  const store = await openPostgresStore({ url, schema, durability, ...(retention !== undefined && { retention }) });
  try {
    const secret = options.secret ?? (await store.sharedValue("secret", newSecret));
    store.warmUp().catch(() => {}); // It only saves time: the next call tells what is wrong.
    const keys = await watchSharedKeys(async () => {
      const value = await store.sharedValue("signing-keys", () => Buffer.from(sharedKeysText()));
      return readSharedKeys(Buffer.from(value).toString());
    });
    return {
      store,
      secret,
      storage: text,
      lease: LEASE,
      signingKeys: keys.known,
      createBus: (logger) =>
        createPostgresBus({ url: process.env["DATABASE_DIRECT_URL"] || url, channel: schema, logger }),
      async close() {
        keys.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
