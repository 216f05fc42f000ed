import { connect, type RemoteStreamEvent, textOf } from "palaver/client";
import { expect, it } from "vitest";
import { LyingServer } from "../../client/lying-server.ts";
import { agentMessage, artifactUpdate, statusUpdate, textPart } from "../kinds.ts";
import { seed } from "./seed.ts";

/** Servers as the seed writes them, which are not quite of the version they follow. */

const IDS = { taskId: "task-123", contextId: "ctx-456" };
const TIMESTAMP = "2025-10-30T10:00:00Z";

const taskIn = (state: string): object => ({
  kind: "task",
  id: IDS.taskId,
  contextId: IDS.contextId,
  status: { state, timestamp: TIMESTAMP },
});

interface Told {
  readonly log: readonly string[];
  readonly path: string;
}

/** What our client makes of a stream of these, where the card says that the agent is spoken to so. */
async function told(
  preferredTransport: string,
  path: string,
  dataOf: (id: unknown) => readonly object[],
): Promise<Told> {
  const server = await LyingServer.start((response, { url, body }) => {
    // They take messages, and have nothing else to ask for.
    if (!/(?:message:stream|a2a)$/.test(url)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(": keep-alive\n\n");
    for (const data of dataOf(body.id)) response.write(`data: ${JSON.stringify(data)}\n\n`);
    response.end();
  });
  const about = {
    name: "Theirs",
    version: "1",
    protocolVersion: "0.3.0",
    capabilities: { streaming: true },
    skills: [],
  };
  try {
    const remote = await connect(
      { ...about, preferredTransport, url: server.url + path },
      { retry: { attempts: 1, reconnects: 1, baseDelay: 1 } },
    );
    const log: string[] = [];
    for await (const event of remote.stream("Hello!")) log.push(lineOf(event));
    return { log, path: server.heard[0]?.url ?? "" };
  } finally {
    await server.close();
  }
}

function lineOf(event: RemoteStreamEvent): string {
  if (event.kind === "artifact") return `Artifact: ${textOf(event.artifact.parts)}`;
  if (event.kind === "status") return `Status: ${event.status.state}`;
  return event.kind === "task" ? `Task: ${event.task.status.state}` : "Message";
}

it(
  seed.example(
    "Server-Side (TypeScript) › called by our client",
    "a task that is started is read as submitted, and a part that is told without its artifact as a piece of one",
  ),
  async () => {
    const { log, path } = await told("JSONRPC", "/api/a2a", (id) =>
      [
        taskIn("started"),
        statusUpdate(IDS, "working", { message: agentMessage(IDS, "Processing...", { messageId: "m-1" }) }),
        {
          kind: "artifact-update",
          ...IDS,
          index: 0,
          part: { ...textPart("Result content here..."), index: 0, append: false },
          timestamp: TIMESTAMP,
        },
        statusUpdate(IDS, "completed", { final: true }),
      ].map((event) => ({ jsonrpc: "2.0", id, result: stamped(event) })),
    );
    expect(path).toBe("/api/a2a");
    expect(log).toEqual([
      "Task: submitted",
      "Status: working",
      "Artifact: Result content here...",
      "Status: completed",
    ]);
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › called by our client",
    "over REST, events that only their kind tells apart are read; after an error among them it is asked again, and then given up",
  ),
  async () => {
    const events = [
      taskIn("submitted"),
      statusUpdate(IDS, "working"),
      artifactUpdate(IDS, { artifactId: "art-1", parts: [textPart("Sales ")] }),
      artifactUpdate(IDS, { artifactId: "art-1", parts: [textPart("increased")] }, { append: true, lastChunk: true }),
      statusUpdate(IDS, "completed", { final: true }),
    ].map(stamped);
    const { log, path } = await told("HTTP+JSON", "", () => events);
    expect(path).toBe("/v1/message:stream");
    expect(log).toEqual([
      "Task: submitted",
      "Status: working",
      "Artifact: Sales ",
      "Artifact: increased",
      "Status: completed",
    ]);
    const error = { error: { code: 500, message: "No such table", data: { taskId: IDS.taskId } } };
    await expect(told("HTTP+JSON", "", () => [...events.slice(0, 2), error])).rejects.toMatchObject({
      name: "RemoteError",
    });
  },
);

/** The matchers for times of our own, made into one of theirs. */
function stamped(event: object): object {
  const status =
    "status" in event && typeof event.status === "object" ? { ...event.status, timestamp: TIMESTAMP } : undefined;
  return status === undefined ? event : { ...event, status };
}
