import {
  clearAgentCardCache,
  connect,
  createAuthorizer,
  createCardCache,
  discover,
  discoverAgent,
  fetchAgentCard,
  invokeRemoteAgent,
  RemoteError,
  verifyCard,
} from "palaver/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openSite, type Site } from "./own-server.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());
afterEach(clearAgentCardCache);

const REASON = new Error("no longer wanted");

/** Signals aborted before the call, in each way programs do it. */
const SIGNALS: readonly [string, () => AbortSignal][] = [
  ["without a reason", () => AbortSignal.abort()],
  ["with an error", () => AbortSignal.abort(REASON)],
  ["with a text", () => AbortSignal.abort("no")],
];

async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

type Call = (signal: AbortSignal) => unknown;

const oauth = {
  securitySchemes: {
    o: { type: "oauth2", flows: { deviceCode: { tokenUrl: "x", deviceAuthorizationUrl: "x", scopes: {} } } },
  },
} as const;
const credentials = { oauth2: { clientId: "me", onDeviceCode: () => {} } };
const signed = { signatures: [{ protected: btoa('{"alg":"ES256","kid":"k"}').replaceAll("=", ""), signature: "AA" }] };

const FUNCTIONS: Readonly<Record<string, Call>> = {
  "connect with an address": (signal) => connect(site.url, { signal, cache: false }),
  "connect with an address whose card is cached": async (signal) => {
    const cache = createCardCache();
    await connect(site.url, { cache });
    return connect(site.url, { cache, signal });
  },
  "connect with a card": async (signal) => connect((await connect(site.url)).card, { signal }),
  "connect with a card and interactive credentials": async (signal) =>
    connect({ ...(await connect(site.url)).card, ...oauth }, { signal, credentials }),
  discover: (signal) => discover(site.url, { signal, cache: false }),
  "discover with a given card": async (signal) => discover((await discover(site.url)).json, { signal }),
  verifyCard: (signal) => verifyCard(signed, { keys: () => undefined }, { signal }),
  fetchAgentCard: (signal) => fetchAgentCard(site.url, { signal }),
  "fetchAgentCard with a cached card": async (signal) => {
    await fetchAgentCard(site.url);
    return fetchAgentCard(site.url, { signal });
  },
  "authorizer.prepare": async (signal) =>
    createAuthorizer({ ...(await connect(site.url)).card, ...oauth }, credentials).prepare(signal),
  "authorizer.authorize": async (signal) => {
    const { authorize } = createAuthorizer({ ...(await connect(site.url)).card, ...oauth }, credentials);
    return authorize({ url: new URL(site.url), headers: new Headers() }, { operation: "send", signal });
  },
  send: async (signal) => (await connect(site.url)).send("hello", { signal }),
  "send without waiting": async (signal) => (await connect(site.url)).send("hello", { signal, wait: false }),
  stream: async (signal) => (await connect(site.url)).stream("hello", { signal }).result(),
  tasks: async (signal) => {
    for await (const _ of (await connect(site.url)).tasks({ signal }));
  },
  taskPage: async (signal) => (await connect(site.url)).taskPage({ signal }),
  extendedCard: async (signal) => (await connect(site.url)).extendedCard({ signal }),
  "task.get": async (signal) => (await connect(site.url)).task("t").get({ signal }),
  "task.wait": async (signal) => (await connect(site.url)).task("t").wait({ signal }),
  "task.cancel": async (signal) => (await connect(site.url)).task("t").cancel({ signal }),
  "task.subscribe": async (signal) => (await connect(site.url)).task("t").subscribe({ signal }).result(),
  "task.reply": async (signal) => (await connect(site.url)).task("t").reply("hello", { signal }),
  "push.create": async (signal) => (await connect(site.url)).task("t").push.create({ url: "https://h/" }, { signal }),
  "push.get": async (signal) => (await connect(site.url)).task("t").push.get("p", { signal }),
  "push.list": async (signal) => (await connect(site.url)).task("t").push.list({ signal }),
  "push.delete": async (signal) => (await connect(site.url)).task("t").push.delete("p", { signal }),
};

describe.each(SIGNALS)("a signal aborted before the call, %s,", (_how, signal) => {
  it.each(Object.entries(FUNCTIONS))("makes %s throw code aborted", async (_name, call) => {
    const error = await thrownBy(() => call(signal()));
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "aborted" });
  });

  it("is reported by the functions that never reject", async () => {
    expect(await discoverAgent(site.url, { signal: signal() })).toBeNull();
    const result = await invokeRemoteAgent(site.url, "hello", { signal: signal() });
    expect(result).toEqual({ success: false, error: expect.stringContaining("The caller aborted") });
  });
});
