import { rejects, strictEqual } from "node:assert";
import { onTestFinished } from "vitest";
import { connect, type RemoteStream, type Task, textOf } from "../../src/client.ts";
import { declareCell } from "./declare-cell.ts";
import type { Json } from "./json.ts";
import type { RunningPeer } from "./peer.ts";
import { heardIn, serveSdk } from "./sdk-server.ts";
import { runServer } from "./server-scenarios.ts";
import { ServerScript } from "./server-script.ts";
import { adkServer } from "./servers/adk.ts";
import { geminiCliServer } from "./servers/gemini-cli.ts";

/** Further deviations of servers, each found in at least one server. */
function quirk(name: string, run: () => Promise<void>): void {
  declareCell(`quirk: ${name}`, "works", run);
}

quirk("reports an unsupported operation if a list is answered with an HTML page and status 404", async () => {
  const { url, close } = await adkServer.start();
  onTestFinished(close);
  const agent = await connect(url, { binding: "HTTP+JSON", retry: { attempts: 1 } });
  await rejects(agent.taskPage(), { code: "unsupported-operation" });
});

quirk("reads updates with input-required and final: false, which follow the approval of a tool", async () => {
  const { url, close } = await geminiCliServer.start();
  onTestFinished(close);
  const agent = await connect(url);
  const { task } = await lastOf(agent.stream("ask"));
  const approval = { data: { callId: "call-1", outcome: "proceed_once" } };
  const { text } = await lastOf(
    agent.stream([{ text: "Ada" }, approval], { taskId: task.id, contextId: task.contextId }),
  );
  strictEqual(text, "Hello, Ada.");
});

/** The task at the end of a stream, and the text of all status messages. */
async function lastOf(stream: RemoteStream): Promise<{ readonly task: Task; readonly text: string }> {
  let text = "";
  for await (const event of stream) if (event.kind === "status") text += textOf(event.status.message?.parts ?? []);
  if (stream.task === undefined) throw new Error("The stream had no task.");
  return { task: stream.task, text };
}

const MODES = { "are null": null, "are empty": [], "say text": ["text"], "say application/json": ["application/json"] };

for (const [name, modes] of Object.entries(MODES)) {
  quirk(`ignores default modes that ${name}`, async () => {
    const running = await serveModes(modes);
    onTestFinished(() => running.close());
    await runServer("text, through remoteAgent", running);
    await runServer("file, through remoteAgent", running);
  });
}

function serveModes(modes: Json): Promise<RunningPeer> {
  const script = new ServerScript();
  return serveSdk({
    cardPath: "/.well-known/agent-card.json",
    rpcPath: "/",
    card: (url) => ({
      name: "Modes",
      description: "Says nothing by its modes.",
      url,
      protocolVersion: "0.3.0",
      version: "1",
      capabilities: { streaming: true },
      defaultInputModes: modes,
      defaultOutputModes: modes,
      skills: [],
    }),
    async execute({ taskId, contextId, message, publish }) {
      const act = script.act(heardIn(message));
      const text = act.kind === "write" ? act.tokens.join("") : "";
      publish({ kind: "task", id: taskId, contextId, status: { state: "working" } });
      const artifact = { artifactId: "answer", parts: [{ kind: "text", text }] };
      publish({ kind: "artifact-update", taskId, contextId, artifact, lastChunk: true });
      publish({ kind: "status-update", taskId, contextId, status: { state: "completed" }, final: true });
    },
    cancel: (task) => task,
  });
}
