import { agent, createServer } from "palaver";
import { afterEach, describe, expect, it } from "vitest";

/** Answers `{KB}` with a text of that many kilobytes, in chunks of 100. */
const writer = agent({
  id: "writer",
  name: "Writer",
  description: "Writes the requested number of kilobytes.",
  version: "1.0.0",
  async run(task) {
    const result = task.artifact("result");
    for (let left = Number(task.text); left > 0; left -= 100)
      await result.write("x".repeat(1024 * Math.min(left, 100)));
  },
});

const servers: ReturnType<typeof createServer>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function open(limits: { readonly maxAnswerBytes?: number; readonly maxPageBytes?: number }) {
  const server = createServer([writer], { store: "memory", limits });
  servers.push(server);
  const call = (method: string, params: object) =>
    server.fetch(
      new Request("http://localhost/", {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    );
  const send = (text: string) =>
    call("SendMessage", { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } });
  return { server, call, send };
}

interface Sent {
  readonly result: { readonly task: { readonly id: string; readonly artifacts: { parts: { text: string }[] }[] } };
}

const lengthOf = ({ result }: Sent): number =>
  result.task.artifacts.flatMap(({ parts }) => parts).reduce((sum, { text }) => sum + text.length, 0);

describe("responses that are not read", () => {
  it("make further large responses fail with unavailable in every binding, but not small ones; once they are cancelled, all requests succeed again", async () => {
    const { server, call, send } = open({ maxAnswerBytes: 1.5 * 1024 * 1024 });
    const sent = (await (await send("3000")).json()) as Sent;
    expect(lengthOf(sent)).toBe(3000 * 1024);
    const { id } = sent.result.task;
    const unread = await call("GetTask", { id });
    expect(unread.status).toBe(200);
    const refused = await call("GetTask", { id });
    expect([
      refused.headers.get("retry-after"),
      ((await refused.json()) as { error: { message: string } }).error.message,
    ]).toEqual(["5", "Too many large answers are being sent; try again in 5 s"]);
    for (const path of [`/tasks/${id}`, `/v1/tasks/${id}`]) {
      const headers: Record<string, string> = path.startsWith("/v1") ? {} : { "a2a-version": "1.0" };
      const answer = await server.fetch(new Request(`http://localhost${path}`, { headers }));
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    }
    expect(((await (await send("10")).json()) as Sent).result.task.artifacts).toHaveLength(1);
    // The response of a send is never refused for its size: sending again would run the task again.
    expect(lengthOf((await (await send("2000")).json()) as Sent)).toBe(2000 * 1024);
    await unread.body?.cancel();
    const answered = (await (await call("GetTask", { id })).json()) as { result: Sent["result"]["task"] };
    expect(lengthOf({ result: { task: answered.result } })).toBe(3000 * 1024);
  });
});

describe("a page of a list", () => {
  it("ends at maxPageBytes, and its token returns the next page", async () => {
    const { call, send } = open({ maxPageBytes: 250 * 1024 });
    for (let n = 0; n < 7; n++) await (await send("100")).text();
    const sizes: number[] = [];
    let pageToken = "";
    do {
      const answer = await call("ListTasks", { includeArtifacts: true, pageToken });
      const { result } = (await answer.json()) as {
        result: { tasks: unknown[]; nextPageToken: string; totalSize: number; pageSize: number };
      };
      expect([result.totalSize, result.pageSize]).toEqual([7, 50]);
      sizes.push(result.tasks.length);
      pageToken = result.nextPageToken;
    } while (pageToken !== "");
    expect(sizes).toEqual([2, 2, 2, 1]);
  });
});
