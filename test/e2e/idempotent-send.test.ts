import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, agent, createServer } from "palaver";
import { type AgentClient, connect, IDEMPOTENT_SEND } from "palaver/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CuttingProxy } from "./cutting-proxy.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

let folder: string;
let begun: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-once-"));
  begun = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

function counting(): Agent {
  return agent({
    name: "Counting",
    description: "Counts its runs.",
    version: "1.0.0",
    async *run(task) {
      begun.push(task.text);
      if (task.text === "ask") begun.push(await task.ask("Well?"));
      yield `run ${begun.length}`;
    },
  });
}

interface Site extends AsyncDisposable {
  readonly remote: AgentClient;
  /** Cuts the next connection before its response is complete. */
  cutNext(): void;
  readonly cuts: () => number;
}

/** Starts an agent behind a proxy that cuts connections, and a client connected to the proxy. */
async function openSite(idempotency: { readonly window: number } | undefined, version: string): Promise<Site> {
  const server = createServer(counting(), {
    port: 0,
    store: `sqlite:${join(folder, "palaver.db")}`,
    drainTimeout: 0,
    logger: SILENT,
    idempotency,
  });
  const { url } = await server.listen();
  let left = 0;
  const proxy = await CuttingProxy.start(url, () => (left-- > 0 ? 40 : Number.POSITIVE_INFINITY));
  const direct = await connect(url);
  const interfaces = direct.card.interfaces.map((way) => ({ ...way, url: way.url.replace(url, proxy.url) }));
  // One request per connection, so that the proxy cuts the intended request.
  const fetch: typeof globalThis.fetch = (input, init) =>
    globalThis.fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), connection: "close" },
    });
  const remote = await connect(
    { ...direct.card, interfaces },
    { version, fetch, retry: { attempts: 4, baseDelay: 1, maxDelay: 5 } },
  );
  return {
    remote,
    cutNext: () => {
      left = 1;
    },
    cuts: () => proxy.cuts,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await server.close();
    },
  };
}

describe.each(["1.0", "0.3"])("a client of %s whose connection is cut before the response", (version) => {
  it("sends the message again if the card declares idempotency, and the agent runs once", async () => {
    await using site = await openSite({ window: 60_000 }, version);
    site.cutNext();
    const sent = await site.remote.send("go");
    expect(sent).toMatchObject({ kind: "task", task: { status: { state: "completed" } } });
    expect([site.cuts(), begun]).toEqual([1, ["go"]]);

    site.cutNext();
    const texts: string[] = [];
    for await (const event of site.remote.stream("streamed")) {
      if (event.kind === "artifact") texts.push(...event.artifact.parts.map(({ text = "" }) => text));
    }
    expect([site.cuts(), begun, texts.join("")]).toEqual([2, ["go", "streamed"], "run 2"]);
  });

  it("delivers a reply once", async () => {
    await using site = await openSite({ window: 60_000 }, version);
    const asked = await site.remote.send("ask");
    if (asked.kind !== "task") throw new Error("Expected a task.");
    site.cutNext();
    const done = await site.remote.send("well", { taskId: asked.task.id });
    expect(done).toMatchObject({ kind: "task", task: { status: { state: "completed" } } });
    expect([site.cuts(), begun]).toEqual([1, ["ask", "well"]]);
  });

  it("does not send the message again if the card does not declare idempotency", async () => {
    await using site = await openSite(undefined, version);
    site.cutNext();
    await expect(site.remote.send("go")).rejects.toMatchObject({ code: "outcome-unknown" });
    expect(begun).toEqual(["go"]);
  });
});

describe("a repeated message", () => {
  const message = (text: string) => ({ messageId: "m-1", role: "ROLE_USER", parts: [{ text }] });
  const send = async (handle: (request: Request) => Promise<Response>, text: string): Promise<Response> =>
    handle(
      new Request("http://localhost/message:send", {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ message: message(text) }),
      }),
    );
  const open = () =>
    createServer(counting(), {
      store: `sqlite:${join(folder, "palaver.db")}`,
      drainTimeout: 0,
      logger: SILENT,
      idempotency: { window: 60_000 },
    });

  it("gets the task of its first send, also after a restart; another message with the same id gets an error", async () => {
    const first = open();
    const before = await (await send(first.fetch, "go")).json();
    await first.close();
    const second = open();
    const after = await send(second.fetch, "go");
    expect(await after.json()).toEqual(before);
    const other = await send(second.fetch, "stop");
    expect([other.status, JSON.stringify(await other.json())]).toEqual([
      409,
      expect.stringContaining("message.messageId"),
    ]);
    expect(begun).toEqual(["go"]);
    await second.close();
  });

  it("is covered for the idempotency window that the card declares", async () => {
    const server = open();
    const card: unknown = await (
      await server.fetch(new Request("http://localhost/.well-known/agent-card.json"))
    ).json();
    expect(card).toMatchObject({
      capabilities: {
        extensions: [{ uri: IDEMPOTENT_SEND, params: { windowSeconds: 60 } }, { uri: "urn:palaver:extension:calls" }],
      },
    });
    await server.close();
  });
});
