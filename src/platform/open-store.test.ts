import { expect, it } from "vitest";
import { createMemoryStore } from "../store/memory/store.ts";
import { openStore } from "./open-store.ts";

const secret = new Uint8Array(32).fill(7);

it("An open store uses the given secret, else a new random one", async () => {
  const store = createMemoryStore();
  expect((await openStore(store, { secret })).secret).toBe(secret);
  const [one, other] = [await openStore(store, {}), await openStore(store, {})];
  expect(one.secret).toHaveLength(32);
  expect(one.secret).not.toEqual(other.secret);
});

it("A secret that is too short is refused", async () => {
  await expect(openStore("memory:", { secret: new Uint8Array(16) })).rejects.toThrow(
    "secret must have at least 32 bytes",
  );
});
