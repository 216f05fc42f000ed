import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import type { AgentClient } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { remoteAgent, type TaskContext } from "../../src/index.ts";
import { CALLS } from "../../src/protocol/calls/ancestry.ts";
import { callRelationsOf } from "../../src/protocol/calls/call-tree.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { agent, textOfTask, World } from "./world.ts";

/** A client of an agent of another world. `through` may change what is sent. */
function clientOf(
  world: () => World,
  id: string,
  through: (request: Request) => Request | Promise<Request> = (request) => request,
) {
  return connect(`http://${id}.test/agents/${id}`, {
    fetch: async (input, init) => world().server.fetch(await through(new Request(input, init))),
  });
}

const trying = (target: () => string | AgentClient | Promise<AgentClient>) => async (task: TaskContext) => {
  try {
    return `(${(await task.call(await target(), task.text)).text})`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

/** Changes the body of a message that is sent. */
const changing =
  (change: (body: { params: { message: JsonObject; metadata?: JsonObject } }) => void) => async (request: Request) => {
    if (request.method !== "POST") return request;
    const body = JSON.parse(await request.text());
    if (body.params?.message !== undefined) change(body);
    const headers = new Headers(request.headers);
    headers.delete("content-length");
    return new Request(request.url, { method: "POST", headers, body: JSON.stringify(body) });
  };

describe("an agent of another server", () => {
  test("receives the ancestry and shows it; a question comes back", async () => {
    const far = agent("far", async (task) => `${await task.ask("Sure?")}!`);
    await using other = new World([far], { serverId: "other" });
    const near = agent(
      "near",
      trying(() => clientOf(() => other, "far")),
    );
    await using world = new World([near], { serverId: "here" });
    const waiting = await world.run("near", "go");
    expect(waiting.status.state).toBe("input-required");
    const [child] = await other.tasks("far");
    expect(callRelationsOf(child?.metadata)).toMatchObject({
      root: waiting.id,
      parent: waiting.id,
      depth: 1,
      verified: false,
    });
    await (await world.client("near")).send("yes", { taskId: waiting.id });
    expect(textOfTask(await world.until("near", waiting.id, "completed"))).toBe("(yes!)");
    expect(await other.tasks("far")).toHaveLength(1);
  });

  test("refuses a ring of two servers at the second hop", async () => {
    const runs: string[] = [];
    const worlds: World[] = [];
    const at = (index: number): World => worlds[index] ?? worlds[0] ?? ([] as never);
    const a = agent("a", async (task) => {
      runs.push("a");
      return trying(() => clientOf(() => at(1), "b"))(task);
    });
    const b = agent("b", async (task) => {
      runs.push("b");
      return trying(() => clientOf(() => at(0), "a"))(task);
    });
    await using first = new World([a], { serverId: "first" });
    await using second = new World([b], { serverId: "second" });
    worlds.push(first, second);
    expect(textOfTask(await first.run("a", "go"))).toBe("(call-cycle)");
    expect(runs).toEqual(["a", "b"]);
  });

  test.each([
    ["keeps only the context", (body: { params: { metadata?: JsonObject } }) => delete body.params.metadata],
    [
      "keeps the metadata but not the context",
      (body: { params: { message: { contextId?: unknown } } }) => delete body.params.message.contextId,
    ],
  ])("is part of the ring if a foreign agent in between %s", async (_name, drop) => {
    let runs = 0;
    const worlds: World[] = [];
    const ring = agent("ring", async (task) => {
      runs++;
      return trying(() => foreign(task))(task);
    });
    // Stands for a foreign agent: what it gets, it sends back to the first agent, without the header.
    const foreign = (_task: TaskContext) =>
      clientOf(
        () => worlds[0] as World,
        "ring",
        async (request) => {
          const changed = await changing(drop)(request);
          changed.headers.delete("palaver-call-path");
          return changed;
        },
      );
    await using world = new World([ring]);
    worlds.push(world);
    expect(textOfTask(await world.run("ring", "go"))).toBe("call-cycle");
    expect(runs).toBe(1);
  });

  test.each([
    ["forged", (token: string) => `${token.slice(0, -10)}AAAAAAAAAA`],
    [
      "changed",
      (token: string) => {
        const [head, , tail] = token.split(".");
        const claims = { ...decodeJwt(token), depth: 1, path: [], budget: { tokens: 1e9 } };
        return [head, Buffer.from(JSON.stringify(claims)).toString("base64url"), tail].join(".");
      },
    ],
    ["garbage", () => "x.y.z"],
  ])("refuses ancestry of its own server that is %s", async (_name, forge) => {
    const worlds: World[] = [];
    const back = agent("back", async () => "reached");
    const start = agent("start", (task) =>
      trying(() =>
        clientOf(
          () => worlds[0] as World,
          "back",
          changing(({ params }) => {
            const entry = params.metadata?.[CALLS] as { ancestry: string } | undefined;
            if (entry !== undefined) entry.ancestry = forge(entry.ancestry);
          }),
        ),
      )(task),
    );
    await using world = new World([start, back]);
    worlds.push(world);
    expect(textOfTask(await world.run("start", "go"))).toBe("call-unavailable");
    expect(await world.tasks("back")).toHaveLength(0);
  });

  test("refuses ancestry that was made for another message", async () => {
    const worlds: World[] = [];
    const seen: string[] = [];
    const back = agent("back", async () => "reached");
    const start = agent("start", (task) =>
      trying(() =>
        clientOf(
          () => worlds[0] as World,
          "back",
          changing(({ params }) => {
            const entry = params.metadata?.[CALLS] as { ancestry: string } | undefined;
            if (entry === undefined) return;
            seen.push(entry.ancestry);
            entry.ancestry = seen[0] ?? "";
          }),
        ),
      )(task),
    );
    await using world = new World([start, back]);
    worlds.push(world);
    expect(textOfTask(await world.run("start", "go"))).toBe("(reached)");
    expect(textOfTask(await world.run("start", "go"))).toBe("call-unavailable");
    expect(await world.tasks("back")).toHaveLength(1);
  });

  test("counts as a step if it is only relayed: the depth ends a chain of relays and calls", async () => {
    const worlds: World[] = [];
    const last = agent("last", async () => "end");
    const relay = await remoteAgentLater(() => worlds[0] as World);
    const first = agent(
      "first",
      trying(() => "relay"),
    );
    await using far = new World([last], { serverId: "far", calls: { depth: 1 } });
    worlds.push(far);
    await using near = new World([first, { ...(await relay()), id: "relay" }], { serverId: "near" });
    // Two calls have led to it, and its server allows one.
    expect(textOfTask(await near.run("first", "go"))).toBe("call-failed");
    expect(await far.tasks("last")).toHaveLength(0);
  });
});

async function remoteAgentLater(world: () => World) {
  return () =>
    remoteAgent("http://last.test/agents/last", {
      fetch: (input, init) => world().server.fetch(new Request(input, init)),
    });
}
