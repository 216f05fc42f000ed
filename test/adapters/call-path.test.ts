import { agent, type ServerOptions, StartupError, type TaskContext } from "palaver";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentClient, type ConnectOptions, connect, type RemoteError } from "../../src/client.ts";
import { openSite } from "../client/own-server.ts";
import { QUICK, taskOf } from "./relaying.ts";

const HEADER = "Palaver-Call-Path";
const KEY = "urn:palaver:call-path";
const others = (count: number): string[] => Array.from({ length: count }, (_, index) => `server-${index}/agent`);

interface Opened {
  readonly url: string;
  readonly remote: AgentClient;
  /** The call path of each created task. */
  readonly paths: (readonly string[])[];
  readonly metadata: unknown[];
}

async function open(
  options: ServerOptions = {},
  connecting: ConnectOptions = {},
  run: (task: TaskContext) => Promise<void> = async () => undefined,
): Promise<Opened> {
  const paths: (readonly string[])[] = [];
  const metadata: unknown[] = [];
  const author = agent({
    id: "worker",
    name: "Worker",
    description: "Works.",
    version: "1",
    run: async (task) => {
      paths.push(task.callPath);
      metadata.push(task.metadata);
      await run(task);
      return "done";
    },
  });
  const site = await openSite(author, { serverId: "here", ...options });
  onTestFinished(site.close);
  return { url: site.url, remote: await connect(site.url, { ...QUICK, ...connecting }), paths, metadata };
}

const failed = (code: string, text: string | RegExp): unknown =>
  expect.objectContaining({
    code,
    message: typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
  });

describe("a message that was relayed by other agents", () => {
  const dialects: [string, ServerOptions, ConnectOptions][] = [
    ["1.0 JSON-RPC", {}, { version: "1.0", binding: "JSONRPC" }],
    ["1.0 REST", {}, { version: "1.0", binding: "HTTP+JSON" }],
    ["0.3 JSON-RPC", { versions: ["0.3"] }, { binding: "JSONRPC" }],
    ["0.3 REST", { versions: ["0.3"] }, { binding: "HTTP+JSON" }],
    ["0.2 JSON-RPC", { versions: ["0.2"] }, {}],
    ["0.1 JSON-RPC", { versions: ["0.1"] }, {}],
  ];

  describe.each(dialects)("in %s", (_, options, connecting) => {
    it("is accepted after 16 agents, and the call path of its task ends with this agent", async () => {
      const { remote, paths, metadata } = await open(options, connecting);
      await remote.send("Hello", { callPath: others(16), metadata: { note: "kept" } });
      expect(paths).toEqual([[...others(16), "here/worker"]]);
      expect(metadata).toEqual([{ note: "kept" }]);
    });

    it("is refused after 17 agents, sent or streamed, and creates no task", async () => {
      const { remote, paths } = await open(options, connecting);
      const sending = remote.send("Hello", { callPath: others(17) });
      await expect(sending).rejects.toEqual(failed("loop-detected", "17 agents have forwarded the message"));
      const streaming = remote.stream("Hello", { callPath: others(17) }).result();
      await expect(streaming).rejects.toEqual(failed("loop-detected", "17 agents have forwarded the message"));
      expect(paths).toEqual([]);
    });

    it("is refused if this agent already relayed it, sent or streamed, and creates no task", async () => {
      const { remote, paths } = await open(options, connecting);
      const callPath = ["a/b", "here/worker", "c/d"];
      await expect(remote.send("Hello", { callPath })).rejects.toEqual(failed("loop-detected", "already forwarded"));
      await expect(remote.stream("Hello", { callPath }).result()).rejects.toEqual(
        failed("loop-detected", "already forwarded"),
      );
      expect(paths).toEqual([]);
    });
  });

  it("is refused in the plain dialect because of its header: the dialect has no metadata", async () => {
    const { url, paths } = await open();
    const response = await fetch(`${url}/a2a/tasks/send`, {
      method: "POST",
      headers: { "content-type": "application/json", [HEADER]: "here/worker" },
      body: JSON.stringify({ message: "Hello" }),
    });
    expect(response.status).toBe(508);
    expect(await response.json()).toMatchObject({ error: { code: "loop-detected" } });
    expect(paths).toEqual([]);
  });

  it("is refused even if the limit of open streams is reached", async () => {
    const { remote } = await open({ limits: { maxStreams: 0 } });
    const streaming = remote.stream("Hello", { callPath: ["here/worker"] }).result();
    await expect(streaming).rejects.toEqual(failed("loop-detected", "already forwarded"));
  });

  it("is refused before reply() is called", async () => {
    let asked = 0;
    const replying = agent({ id: "r", name: "R", description: "R", version: "1", reply: () => `${++asked}` });
    const site = await openSite(replying, { serverId: "here" });
    onTestFinished(site.close);
    const remote = await connect(site.url, QUICK);
    await expect(remote.send("Hello", { callPath: ["here/r"] })).rejects.toEqual(
      failed("loop-detected", "already forwarded"),
    );
    expect(asked).toBe(0);
  });

  it("gives reply() the call path for its own calls", async () => {
    const seen: unknown[] = [];
    const replying = agent({
      ...{ id: "r", name: "R", description: "R", version: "1" },
      reply: (_, call) => {
        seen.push(call.callPath);
        return "x";
      },
    });
    const site = await openSite(replying, { serverId: "here" });
    onTestFinished(site.close);
    await (await connect(site.url, QUICK)).send("Hello", { callPath: ["a/b"] });
    expect(seen).toEqual([["a/b", "here/r"]]);
  });

  it("may have been relayed by another agent of the same server", async () => {
    const { remote, paths } = await open();
    await remote.send("Hello", { callPath: ["here/planner"] });
    expect(paths).toEqual([["here/planner", "here/worker"]]);
  });

  it("has the path entries of the header and of the metadata", async () => {
    const { remote, paths } = await open({}, { headers: { [HEADER]: "x/y" } });
    await remote.send("Hello", { metadata: { [KEY]: ["a/b", "c/d"] } });
    expect(paths).toEqual([["a/b", "c/d", "x/y", "here/worker"]]);
  });

  it("is refused as invalid if the header is malformed", async () => {
    const { remote, paths } = await open({}, { headers: { [HEADER]: "no entry!" } });
    await expect(remote.send("Hello")).rejects.toEqual(failed("invalid-params", /^Palaver-Call-Path: /));
    expect(paths).toEqual([]);
  });

  it("is refused as invalid if the metadata is malformed", async () => {
    const { remote, paths } = await open();
    const sending = remote.send("Hello", { metadata: { [KEY]: "a/b" } });
    await expect(sending).rejects.toEqual(failed("invalid-params", KEY));
    expect(paths).toEqual([]);
  });
});

describe("a task whose later message was relayed by other agents", () => {
  it("has them in its call path from then on", async () => {
    const seen: (readonly string[])[] = [];
    const { remote } = await open({}, {}, async (task) => {
      await task.ask("Which?");
      seen.push(task.callPath);
    });
    const { id } = taskOf(await remote.send("Hello", { callPath: ["a/b"] }));
    const answered = taskOf(await remote.task(id).reply("This", { callPath: ["c/d", "e/f"] }));
    expect(seen).toEqual([["c/d", "e/f", "a/b", "here/worker"]]);
    expect(JSON.stringify(answered.history)).not.toContain("c/d");
  });

  it("refuses a message that this agent already relayed", async () => {
    const { remote } = await open({}, {}, async (task) => void (await task.ask("Which?")));
    const { id } = taskOf(await remote.send("Hello"));
    const replying = remote.task(id).reply("This", { callPath: ["here/worker"] });
    await expect(replying).rejects.toEqual(failed("loop-detected", "already forwarded"));
  });
});

describe("a message from a caller that is not an agent", () => {
  it("has an empty call path: neither header nor metadata is sent", async () => {
    const sent: Request[] = [];
    const { remote, paths } = await open(
      {},
      {
        fetch: (url, init) => {
          sent.push(new Request(url, init));
          return fetch(url, init);
        },
      },
    );
    await remote.send("Hello");
    expect(paths).toEqual([["here/worker"]]);
    const last = sent.at(-1);
    expect(last?.headers.has(HEADER)).toBe(false);
    expect(await last?.text()).not.toContain(KEY);
  });
});

describe("the options", () => {
  it("set how many agents may relay a message", async () => {
    const { remote, paths } = await open({ limits: { maxHops: 1 } });
    await remote.send("Hello", { callPath: others(1) });
    const sending: Promise<unknown> = remote.send("Hello", { callPath: others(2) });
    const error = (await sending.catch((thrown: unknown) => thrown)) as RemoteError;
    expect(error.code).toBe("loop-detected");
    expect(error.remote.reason).toBe("LOOP_DETECTED");
    expect(paths).toHaveLength(1);
  });

  it.each([-1, 1.5, 64, Number.NaN])("refuse maxHops %s", async (maxHops) => {
    await expect(open({ limits: { maxHops } })).rejects.toThrow(/limits\.maxHops must be a whole number/);
  });

  it.each(["", "a b", "x".repeat(65), "a/b"])("refuse the server id %j", async (serverId) => {
    const error: unknown = await open({ serverId }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StartupError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^serverId must be/) });
  });

  it("give two in-memory servers different ids", async () => {
    const [one, other] = [await open({ serverId: undefined }), await open({ serverId: undefined })];
    await one.remote.send("Hello");
    await other.remote.send("Hello");
    expect(one.paths[0]).toEqual([expect.stringMatching(/^[\w-]{22}\/worker$/)]);
    expect(one.paths).not.toEqual(other.paths);
  });
});
