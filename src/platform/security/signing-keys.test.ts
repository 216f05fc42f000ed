import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSigner } from "../../auth/create-signer.ts";
import { isSignatureOf, type KeySet, readSignatureHeader } from "../../auth/detached-signature.ts";
import { verifyCard } from "../../client/discovery/verify-card.ts";
import { agent } from "../../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createServer, type Server } from "../create-server.ts";
import {
  listSigningKeys,
  openSigningKeys,
  revokeSigningKey,
  rotateSigningKeys,
  signingFileOf,
} from "./signing-keys.ts";
import { generateKey } from "./signing-keys-file.ts";

const logger = SILENT_LOGGER;
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signing-"));
  file = join(folder, "deeper", "tasks.db.signing.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the signing keys of a server", () => {
  it("have ids that do not start with -, so that the command line does not read them as options", () => {
    for (let made = 0; made < 1000; made++) expect(generateKey().kid).toMatch(/^[\w][\w-]{42}$/);
  });

  it("are created on first use, readable only by their owner, and reused", async () => {
    const keys = openSigningKeys({ file, logger });
    expect(existsSync(file)).toBe(false);
    const { kid } = keys.current();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.new`) || existsSync(`${file}.lock`)).toBe(false);
    expect(openSigningKeys({ file, logger }).current().kid).toBe(kid);
    const signature = await createSigner(keys).signCard("{}");
    const [key] = keys.published();
    expect(key?.kid).toBe(readSignatureHeader(signature).kid);
    expect(key && (await isSignatureOf(signature, "{}", { key, algorithms: ["ES256"] }))).toBe(true);
  });

  it("are published without their private parts", () => {
    const keys = openSigningKeys({ file, logger });
    rotateSigningKeys(file);
    rotateSigningKeys(file);
    const published = keys.published();
    expect(published.map((key) => Object.keys(key).sort())).toEqual([
      ["alg", "crv", "kid", "kty", "use", "x", "y"],
      ["alg", "crv", "kid", "kty", "use", "x", "y"],
    ]);
  });

  it("last as long as the process without a file", () => {
    const keys = openSigningKeys({ logger });
    expect(keys.current().kid).toBe(keys.published()[0]?.kid);
    expect(keys.current().kid).not.toBe(openSigningKeys({ logger }).current().kid);
  });

  it("are reloaded when the file changes, at most once per second", () => {
    let time = 0;
    const keys = openSigningKeys({ file, logger, monotonic: () => time });
    const first = keys.current().kid;
    const { kid } = rotateSigningKeys(file);
    time = 999;
    expect(keys.current().kid).toBe(first);
    time = 1000;
    expect(keys.current().kid).toBe(kid);
    expect(keys.published().map((key) => key.kid)).toEqual([kid, first]);
  });

  it("stay in use while the file is damaged, and are written again if the file is missing", () => {
    const error = vi.fn<(message: string) => void>();
    let time = 0;
    const keys = openSigningKeys({ file, logger: { ...logger, error }, monotonic: () => time });
    const { kid } = keys.current();
    writeFileSync(file, "{");
    for (time = 1000; time < 5000; time += 1000) expect(keys.current().kid).toBe(kid);
    expect(error).toHaveBeenCalledOnce();
    rmSync(file);
    time += 1000;
    expect(keys.current().kid).toBe(kid);
    expect(listSigningKeys(file).map((key) => key.kid)).toEqual([kid]);
  });

  it.each([
    "",
    "{}",
    '{"keys":[]}',
    '{"keys":[{"kid":"a","state":"current","createdAt":"2026-01-01T00:00:00Z","jwk":{"kty":"oct","k":"eA","kid":"a"}}]}',
  ])("are not read from a damaged file: %s", (text) => {
    rotateSigningKeys(file);
    writeFileSync(file, text);
    expect(() => openSigningKeys({ file, logger }).current()).toThrow("is damaged");
    expect(() => rotateSigningKeys(file)).toThrow("is damaged");
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});

describe("key rotation", () => {
  const day = 86_400_000;

  it("publishes the previous key until it is retired, and deletes its private part", () => {
    let now = Date.UTC(2026, 0, 1);
    const options = { now: () => now };
    const first = rotateSigningKeys(file, options);
    now += day;
    const second = rotateSigningKeys(file, options);
    expect(listSigningKeys(file, options)).toEqual([
      { kid: second.kid, state: "current", createdAt: "2026-01-02T00:00:00.000Z", published: true },
      {
        kid: first.kid,
        state: "previous",
        createdAt: "2026-01-01T00:00:00.000Z",
        replacedAt: "2026-01-02T00:00:00.000Z",
        published: true,
      },
    ]);
    expect(readFileSync(file, "utf8").match(/"d":/g)).toHaveLength(1);
    now += 7 * day;
    expect(listSigningKeys(file, options).map(({ published }) => published)).toEqual([true, false]);
    expect(listSigningKeys(file, { ...options, retireAfter: 8 * day }).map(({ published }) => published)).toEqual([
      true,
      true,
    ]);
    rotateSigningKeys(file, options);
    expect(listSigningKeys(file, options).map(({ kid }) => kid)).not.toContain(first.kid);
  });

  it("revokes a key at once, and replaces a revoked current key", () => {
    const first = rotateSigningKeys(file);
    const second = rotateSigningKeys(file);
    expect(revokeSigningKey(file, first.kid)).toMatchObject({ kid: first.kid, state: "revoked", published: false });
    expect(revokeSigningKey(file, second.kid)).toMatchObject({ state: "revoked", published: false });
    const [third, ...others] = listSigningKeys(file);
    expect(third).toMatchObject({ state: "current", published: true });
    expect(others.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
    expect(
      openSigningKeys({ file, logger })
        .published()
        .map(({ kid }) => kid),
    ).toEqual([third?.kid]);
    expect(readFileSync(file, "utf8").match(/"d":/g)).toHaveLength(1);
  });

  it("ignores unknown keys", () => {
    expect(listSigningKeys(file)).toEqual([]);
    expect(revokeSigningKey(file, "x")).toBeUndefined();
    expect(existsSync(file)).toBe(false);
    rotateSigningKeys(file);
    expect(revokeSigningKey(file, "x")).toBeUndefined();
  });

  it("loses no key in concurrent rotations", async () => {
    const script = `
      import { rotateSigningKeys } from ${JSON.stringify(import.meta.resolve("./signing-keys.ts"))};
      for (let index = 0; index < 5; index += 1) rotateSigningKeys(${JSON.stringify(file)});
    `;
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    await Promise.all(
      Array.from({ length: 3 }, () => {
        const worker = new Worker(url);
        return new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
      }),
    );
    expect(listSigningKeys(file)).toHaveLength(15);
  });

  it("ignores the lock of a process that died", () => {
    rotateSigningKeys(file);
    writeFileSync(`${file}.lock`, "");
    utimesSync(`${file}.lock`, 1, 1);
    rotateSigningKeys(file);
    expect(listSigningKeys(file)).toHaveLength(2);
  });
});

describe("the file of the signing keys", () => {
  it("is beside the store's file", () => {
    expect(signingFileOf("sqlite:/var/lib/a.db")).toBe("/var/lib/a.db.signing.json");
    expect(signingFileOf("memory:")).toBeUndefined();
  });
});

describe("a server", () => {
  const echo = agent({ name: "Echo", description: "Says it again.", version: "1.0.0", run: async () => "ok" });
  const served = async (server: Server, path: string): Promise<Readonly<Record<string, unknown>>> => {
    const document: unknown = await (await server.fetch(new Request(`http://agents.example${path}`))).json();
    return { ...Object(document) };
  };

  it("signs its cards with `signCards`, with the published keys, which are stored beside its store", async () => {
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const options = { store, signCards: true, publicUrl: "http://agents.example", logger, drainTimeout: 0 };
    const server = createServer(echo, options);
    const card = await served(server, "/.well-known/agent-card.json");
    const keys = await served(server, "/.well-known/jwks.json");
    await server.close();
    const [{ kid } = { kid: "" }] = listSigningKeys(join(folder, "tasks.db.signing.json"));
    expect(keys).toMatchObject({ keys: [{ kid }] });
    const again = createServer(echo, options);
    expect(await served(again, "/.well-known/jwks.json")).toEqual(keys);
    await again.close();
    // Safe: the assertion above checked its shape.
    expect(await verifyCard(card, { jwks: keys as unknown as KeySet })).toMatchObject({ kid });
  });

  it("does not sign cards by default, and publishes no keys if it signs nothing", async () => {
    const server = createServer(echo, { store: "memory:", push: false, logger, drainTimeout: 0 });
    expect(await served(server, "/.well-known/agent-card.json")).not.toHaveProperty("signatures");
    expect((await server.fetch(new Request("http://agents.example/.well-known/jwks.json"))).status).toBe(404);
    await server.close();
  });
});
