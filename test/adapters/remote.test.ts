import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { type Agent, agent, RELAYED, remoteAgent } from "palaver";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type AgentClient, connect, textOf } from "../../src/client.ts";
import { openSite, type Site } from "../client/own-server.ts";
import { until } from "../e2e/workbench.ts";
import { startKindedServer } from "../remote-peers/kinded-server.ts";
import { caller0_1, callerRest1_0, type Json, member } from "./hand-written.ts";
import { answerOf, newStore, QUICK, taskOf } from "./relaying.ts";

const ANYTHING = { inputModes: ["*/*"], outputModes: ["*/*"] };

/** An agent that understands the commands of the official kit's server and some more. */
function peer(): Agent {
  return agent({
    name: "Peer",
    description: "Follows a script.",
    version: "1.0.0",
    skills: [{ id: "work", name: "Work", description: "Works.", tags: ["a"] }],
    ...ANYTHING,
    reply: (message) => (textOf(message.parts) === "message" ? "just a message" : undefined),
    async run(task) {
      const [word = "", argument = ""] = task.text.split(" ");
      const answer = task.artifact("answer");
      if (word === "ask") {
        await answer.write("before ");
        await task.ask("which one?");
        return answer.end(task.history.at(-1)?.parts ?? []);
      }
      if (word === "chunks") {
        for (let index = 0; index < Number(argument); index++) await answer.write(`${index};`);
        return;
      }
      if (word === "talk") {
        await task.status("halfway");
        return answer.end("talked");
      }
      if (word === "authorise") {
        const message = await task.requireAuth("Please sign in.");
        return answer.end(`signed in with ${textOf(message?.parts ?? [])}`);
      }
      if (word === "reject") task.reject("not my job");
      if (word === "fail") throw new Error("no luck");
      if (word === "hang") {
        await answer.write("waiting");
        await new Promise((_, refuse) => task.signal.addEventListener("abort", () => refuse(task.signal.reason)));
      }
      return answer.end(task.message.parts);
    },
  });
}

function chunks(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index};`).join("");
}

/** The texts of all artifact events of either version, in order. */
function streamed(events: readonly Json[]): string {
  return events
    .map((event) => (event["artifactUpdate"] ?? event) as Json)
    .flatMap((event) => ("artifact" in event ? (member(event, "artifact")["parts"] as readonly Json[]) : []))
    .map((part) => part["text"])
    .join("");
}

function lastState(events: readonly Json[]): unknown {
  const statuses = events.map((event) => (event["statusUpdate"] ?? event) as Json).filter((event) => "status" in event);
  return member(statuses.at(-1), "status")["state"];
}

function idOf(events: readonly Json[]): string {
  const [first] = events;
  const id = first?.["id"] ?? (first?.["task"] as Json | undefined)?.["id"];
  if (typeof id !== "string") throw new Error(`No id in ${JSON.stringify(first)}`);
  return id;
}

async function startOwn(): Promise<{ readonly url: string; close(): Promise<void> }> {
  return openSite(peer(), { versions: ["0.3"] });
}

const REMOTES = [
  ["our own server with 0.3 only", startOwn],
  ["@a2a-js/sdk 0.3.14", () => startKindedServer("0.3", "JSONRPC")],
] as const;

const CALLERS = [
  {
    version: "0.1",
    callerAt: caller0_1,
    text: (text: string) => ({ type: "text", text }),
    asking: "input-required",
    completed: "completed",
  },
  {
    version: "1.0 over REST",
    callerAt: callerRest1_0,
    text: (text: string) => ({ text }),
    asking: "TASK_STATE_INPUT_REQUIRED",
    completed: "TASK_STATE_COMPLETED",
  },
];

describe.each(REMOTES)("an agent that relays to %s", (_, start) => {
  let behind: { readonly url: string; close(): Promise<void> };
  let site: Site;
  let direct: AgentClient;
  let caller: AgentClient;
  beforeAll(async () => {
    behind = await start();
    site = await openSite(await remoteAgent(behind.url, { ...QUICK, agent: ANYTHING }));
    direct = await connect(behind.url);
    caller = await connect(site.url, { version: "1.0", binding: "JSONRPC" });
  });
  afterAll(async () => {
    await site.close();
    await behind.close();
  });

  it("has the name, description and skills of the remote agent, and declares that it relays", () => {
    const { name, description, version, skills, capabilities } = caller.card;
    expect({ name, description, version }).toEqual({
      name: "Peer",
      description: "Follows a script.",
      version: "1.0.0",
    });
    // A card needs at least one skill, so a card without skills gets one.
    for (const skill of direct.card.skills) expect(skills).toContainEqual(skill);
    expect(capabilities.extensions).toContainEqual(expect.objectContaining({ uri: RELAYED }));
    // The address of the remote agent may be an internal secret.
    expect(JSON.stringify(capabilities.extensions)).not.toContain(direct.interface.url);
  });

  it.each(CALLERS)("streams to callers of $version", async ({ callerAt, text, completed }) => {
    const events = await callerAt(site.url).stream([text("chunks 50")]);
    expect(streamed(events)).toBe(chunks(50));
    expect(lastState(events)).toBe(completed);
  });

  it.each(CALLERS)("relays the remote agent's question to callers of $version, and their answer back", async (row) => {
    const { callerAt, text, asking, completed } = row;
    const hand = callerAt(site.url);
    const asked = await hand.stream([text("ask")]);
    expect(JSON.stringify(asked.at(-1))).toContain("which one?");
    const answered = await hand.stream([text("the red one")], idOf(asked));
    expect([lastState(asked), lastState(answered)]).toEqual([asking, completed]);
    expect(streamed(answered)).toContain("the red one");
  });

  it("relays files and data in both directions", async () => {
    const parts = [
      { raw: "aGVsbG8=", mediaType: "text/plain", filename: "hello.txt" },
      { url: "https://files.example/a.png", mediaType: "image/png" },
      { data: { deep: [1, { two: null }] } },
    ];
    const task = taskOf(await caller.send(parts));
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts?.[0]).toMatchObject({ artifactId: "answer", parts });
  });

  it("relays files in answers to questions", async () => {
    const asked = taskOf(await caller.send("ask"));
    const answer = [{ text: "this" }, { data: { size: 4 } }];
    const task = taskOf(await caller.task(asked.id).reply(answer));
    // The text continues the text before the question.
    expect(task.artifacts?.[0]?.parts).toMatchObject([{ text: expect.stringMatching(/this$/) }, { data: { size: 4 } }]);
    // No text from before the question is repeated.
    expect(answerOf(task)).toMatch(/^(before )?this$/);
  });

  it("turns a bare message into a result", async () => {
    const task = taskOf(await caller.send("message"));
    expect(task.status.state).toBe("completed");
    expect(answerOf(task)).toBe("just a message");
  });

  it("fails if the remote task fails", async () => {
    const { status } = taskOf(await caller.send("fail"));
    expect(status.state).toBe("failed");
    expect(textOf(status.message?.parts ?? [])).not.toBe("");
  });

  it("cancels the remote task when its task is canceled", async () => {
    const seen = remoteTaskIds();
    const relayed = await openSite(await remoteAgent(behind.url, { ...QUICK, fetch: seen.fetch }));
    onTestFinished(relayed.close);
    const hand = callerRest1_0(relayed.url);
    const own = await connect(relayed.url);
    const { id } = taskOf(await own.send("hang", { wait: false }));
    const remoteId = await seen.first;
    await hand.cancel(id);
    expect((await own.task(id).wait()).status.state).toBe("canceled");
    expect((await direct.task(remoteId).wait()).status.state).toBe("canceled");
  });
});

/** A `fetch` that reads the relay's responses for the id of the first task. */
function remoteTaskIds(): { readonly fetch: typeof fetch; readonly first: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>();
  return {
    first: promise,
    async fetch(...request) {
      const answer = await fetch(...request);
      if (!answer.headers.get("content-type")?.startsWith("text/event-stream") || answer.body === null) return answer;
      const [mine, theirs] = answer.body.tee();
      void (async () => {
        let text = "";
        for await (const chunk of mine.pipeThrough(new TextDecoderStream())) {
          text += chunk;
          const id = /"(?:taskId|id)":"([^"]{8,})"/.exec(text)?.[1];
          if (id !== undefined) resolve(id);
        }
      })().catch(() => undefined);
      return new Response(theirs, answer);
    },
  };
}

describe("an agent that relays", () => {
  let behind: Site;
  beforeAll(async () => {
    behind = await openSite(peer(), { versions: ["0.3"] });
  });
  afterAll(() => behind.close());

  async function relaying(options: Parameters<typeof remoteAgent>[1] = {}): Promise<AgentClient> {
    const site = await openSite(await remoteAgent(behind.url, { ...QUICK, ...options }));
    onTestFinished(site.close);
    return connect(site.url);
  }

  it("relays status messages", async () => {
    const said: string[] = [];
    for await (const event of (await relaying()).stream("talk"))
      if (event.kind === "status") said.push(textOf(event.status.message?.parts ?? []));
    expect(said).toContain("halfway");
  });

  it("rejects if the remote agent rejects, with its message", async () => {
    const { status } = taskOf(await (await relaying()).send("reject"));
    expect(status.state).toBe("rejected");
    expect(textOf(status.message?.parts ?? [])).toBe("not my job");
  });

  it("relays auth-required, and the caller's message to it", async () => {
    const caller = await relaying();
    const asked = taskOf(await caller.send("authorise"));
    expect(asked.status.state).toBe("auth-required");
    expect(textOf(asked.status.message?.parts ?? [])).toBe("Please sign in.");
    const task = taskOf(await caller.task(asked.id).reply("my badge"));
    expect(answerOf(task)).toBe("signed in with my badge");
  });

  it("fails with a clear message if the remote agent cannot be reached", async () => {
    const gone = await openSite(peer(), { versions: ["0.3"] });
    const relay = await remoteAgent(gone.url, QUICK);
    await gone.close();
    const site = await openSite(relay);
    onTestFinished(site.close);
    const { status } = taskOf(await (await connect(site.url)).send("hello"));
    expect(status.state).toBe("failed");
    expect(textOf(status.message?.parts ?? [])).toBe('The agent "Peer" could not be reached: try again later.');
  });

  it("resumes the same remote task after a restart", async () => {
    const store = await newStore();
    let sends = 0;
    const counting: typeof fetch = (url, init) => {
      if (typeof init?.body === "string" && init.body.includes('"message/stream"')) sends++;
      return fetch(url, init);
    };
    const start = async (): Promise<Site> =>
      openSite(await remoteAgent(behind.url, { ...QUICK, fetch: counting }), { store });
    const first = await start();
    const asked = taskOf(await (await connect(first.url)).send("ask"));
    expect(answerOf(asked)).toBe("before ");
    await first.close();
    const second = await start();
    onTestFinished(second.close);
    const task = taskOf(await (await connect(second.url)).task(asked.id).reply("blue"));
    expect(task.status.state).toBe("completed");
    expect(answerOf(task)).toBe("before blue");
    expect(sends).toBe(2);
  });

  it("follows the remote task again that was working when the server stopped", async () => {
    const store = await newStore();
    const go = Promise.withResolvers<void>();
    const slow = await openSite(
      agent({
        name: "Slow",
        description: "Takes its time.",
        version: "1",
        async *run() {
          yield "one ";
          await go.promise;
          yield "two";
        },
      }),
      { versions: ["0.3"] },
    );
    onTestFinished(slow.close);
    const start = async (): Promise<Site> => openSite(await remoteAgent(slow.url, QUICK), { store });
    const first = await start();
    let id = "";
    for await (const event of (await connect(first.url)).stream("go")) {
      if (event.kind !== "message") id = event.task.id;
      if (event.kind === "artifact") break;
    }
    await first.close();
    const second = await start();
    onTestFinished(second.close);
    go.resolve();
    const task = await (await connect(second.url)).task(id).wait();
    expect(task.status.state).toBe("completed");
    expect(answerOf(task)).toBe("one two");
  });

  /** Relays, twice with the same store, to an agent that accepts every message and never answers. */
  async function relayingToNobody(options: Parameters<typeof remoteAgent>[1] = {}) {
    const store = await newStore();
    const said: string[] = [];
    const silent = createHttpServer((request) => {
      void readText(request).then((body) =>
        said.push(String(member(member(JSON.parse(body), "params"), "message")["messageId"])),
      );
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const card = { ...(await connect(behind.url)).card, capabilities: { streaming: true } };
    const [way] = card.interfaces;
    const interfaces = [{ binding: "JSONRPC", protocolVersion: "0.3", ...way, url: `http://127.0.0.1:${port}/` }];
    const start = async (): Promise<Site> =>
      openSite(await remoteAgent({ ...card, interfaces }, { ...QUICK, ...options }), { store });
    const first = await start();
    const { id } = taskOf(await (await connect(first.url)).send("hello", { wait: false }));
    await until(() => said.length === 1);
    await first.close();
    const second = await start();
    onTestFinished(second.close);
    return { task: (await connect(second.url)).task(id), said };
  }

  it("does not send a message again that may have arrived before a restart", async () => {
    const { task, said } = await relayingToNobody();
    const { status } = await task.wait();
    expect(status.state).toBe("failed");
    expect(textOf(status.message?.parts ?? [])).toContain("may or may not have received the message");
    expect(said).toHaveLength(1);
  });

  it("sends the message again with the same id if resend is true", async () => {
    const { said } = await relayingToNobody({ resend: true });
    await until(() => said.length === 2);
    expect(said[1]).toBe(said[0]);
  });
});
