import { expect, test } from "vitest";
import type { RemoteStreamEvent } from "../../client/api.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { TextOutput } from "./text-output.ts";

const TASK: Task = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  status: { state: "working", timestamp: "2030-01-01T00:00:00.000Z" },
};

function chunk(name: string, part: Part, lastChunk = false): RemoteStreamEvent {
  const artifact = { artifactId: name as ArtifactId, parts: [part] };
  return { kind: "artifact", artifact, append: true, lastChunk, task: TASK };
}

async function shown(events: readonly RemoteStreamEvent[]): Promise<string> {
  let text = "";
  const sink = {
    isTTY: false,
    write: async (more: string) => {
      text += more;
    },
  };
  const output = new TextOutput({
    stdout: sink,
    stderr: sink,
    verbose: false,
    agentFlags: "",
    program: "palaver",
    paint: (word) => word,
  });
  for (const event of events) await output.event(event);
  await output.streamEnd(undefined);
  return text;
}

test("an empty closing chunk ends the text of its artifact and writes nothing else", async () => {
  const text = [chunk("a", { text: "Hel" }), chunk("a", { text: "lo" })];
  const plain = await shown(text);
  expect(plain).toBe("Artifact: a\nText:\nHello\n\n");
  expect(await shown([...text, chunk("a", { text: "" }, true)])).toBe(plain);
});

test("an empty closing chunk writes nothing if another artifact or data was printed last", async () => {
  const events = [chunk("a", { text: "1" }), chunk("b", { data: 2 })];
  const closing = [chunk("a", { text: "" }, true), chunk("b", { text: "" }, true)];
  expect(await shown([...events, ...closing])).toBe(await shown(events));
});
