import { agent } from "palaver";
import { connect, type RemoteStreamEvent, textOf } from "palaver/client";
import { expect, it, onTestFinished } from "vitest";
import { openSite } from "./own-server.ts";

function lineOf(event: RemoteStreamEvent): string {
  if (event.kind === "status") return event.status.state;
  if (event.kind === "artifact") return `${textOf(event.artifact.parts)}${event.lastChunk ? " (last)" : ""}`;
  return event.kind;
}

it("shows every event of a task that is canceled before the stream's reply arrives", async () => {
  const asking = agent({
    ...{ name: "Asking", description: "Asks.", version: "1" },
    async run(task) {
      await task.artifact("out").write("one");
      await task.ask("Go on?");
    },
  });
  const site = await openSite(asking);
  onTestFinished(() => site.close());
  const remote = await connect(site.url);
  const lines: string[] = [];
  const stream = remote.stream("go", {
    async onInput({ task }) {
      await remote.task(task.id).cancel();
      return "yes";
    },
  });
  for await (const event of stream) lines.push(lineOf(event));
  expect(lines.filter((line) => line !== "task")).toEqual(["working", "one", "input-required", " (last)", "canceled"]);
});
