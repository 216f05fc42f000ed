import { AgentLoop, type LoopEvent } from "palaver/plain";
import { concat, from, lastValueFrom, Observable, throwError, toArray } from "rxjs";
import { expect, it } from "vitest";
import { at, streamed } from "../exchange.ts";
import { artifactUpdate, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const CHUNK = { type: "artifact-chunk", artifactId: "art-1" };
const REPORT = [
  { type: "status-update", state: "working", final: false },
  { ...CHUNK, chunk: "Sales ", append: false, lastChunk: false },
  { ...CHUNK, chunk: "increased", append: true, lastChunk: true },
];

it(
  seed.example(
    "Integration with RxJS Agent › 1 AgentLoop",
    "invoke emits the events of a task as an Observable, invokeSync returns its artifacts, cancel ends it",
  ),
  async () => {
    await using testServer = await serveScript((task) =>
      task.text === "wait" ? new Observable<never>(() => {}) : from(REPORT),
    );
    const agent = new AgentLoop({ server: testServer.server });
    const ids = { taskId: crypto.randomUUID(), contextId: crypto.randomUUID() };
    const invoked = new Observable<LoopEvent>((observer) =>
      agent.invoke([{ kind: "text", text: "Analyze sales data" }], ids).subscribe(observer),
    );
    const events = await lastValueFrom(invoked.pipe(toArray()));
    expect(events).toMatchObject(REPORT);
    const result = await agent.invokeSync([{ kind: "text", text: "Again" }], { taskId: crypto.randomUUID() });
    expect(result.artifacts).toMatchObject([{ artifactId: "art-1", parts: [textPart("Sales increased")] }]);
    const waiting = { taskId: crypto.randomUUID() };
    const ended = Promise.withResolvers<unknown>();
    agent.invoke([{ kind: "text", text: "wait" }], waiting).subscribe({
      next: () => void agent.cancel(waiting.taskId),
      error: ended.resolve,
      complete: () => ended.reject(new Error("The task completed")),
    });
    expect(await ended.promise).toMatchObject({ state: "canceled" });
  },
);

it(
  seed.example(
    "Integration with RxJS Agent › 1 AgentLoop › typed events",
    "an Observable of typed events is streamed as the printed server maps it; its error fails the task",
  ),
  async () => {
    await using testServer = await serveScript((task) =>
      task.text === "fail"
        ? concat(
            from(REPORT),
            throwError(() => new Error("password=1234")),
          )
        : from(REPORT),
    );
    const stream = async (text: string): Promise<readonly unknown[]> =>
      resultsOf(await streamed(testServer.url, rpcRequest(1, "message/stream", { message: userMessage(text) })), 1);
    const results = await stream("Analyze sales data");
    const ids = idsOf(results[0]);
    expect(results.slice(1)).toEqual([
      statusUpdate(ids, "working"),
      artifactUpdate(ids, { artifactId: "art-1", name: "art-1", parts: [textPart("Sales ")] }),
      artifactUpdate(ids, { artifactId: "art-1", parts: [textPart("increased")] }, { append: true, lastChunk: true }),
      statusUpdate(ids, "completed", { final: true }),
    ]);
    const failed = await stream("fail");
    expect(at(failed.at(-1), "status.state")).toBe("failed");
    expect(at(failed.at(-1), "final")).toBe(true);
    expect(JSON.stringify(failed)).not.toContain("1234");
  },
);
