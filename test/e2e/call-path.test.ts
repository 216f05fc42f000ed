import { agent } from "palaver";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client.ts";
import { CommandLine } from "../cli/command-line.ts";
import { openSite } from "../client/own-server.ts";

it("a restarted bridge sends the stored call path of its task and keeps its own id", async () => {
  const line = new CommandLine();
  onTestFinished(() => line.close());
  const sent: string[] = [];
  const asking = agent({
    ...{ name: "Asking", description: "Asks.", version: "1" },
    run: async (task) => `You said ${await task.ask("What?")}`,
  });
  const far = await openSite(asking, {
    authenticate: ({ headers }) => {
      const path = headers.get("palaver-call-path");
      if (path !== null) sent.push(path);
      return { id: "bridge", anonymous: false };
    },
  });
  onTestFinished(far.close);
  const start = () => line.listen(["bridge", far.url, "--store", "sqlite:bridge.db"]);

  const first = await start();
  const task = await (await connect(first.url)).send("Hello", { callPath: ["elsewhere/agent"] });
  if (task.kind !== "task") throw new Error("Expected a task, got a message.");
  expect(task.task.status.state).toBe("input-required");
  await first.kill("SIGKILL");

  const again = await connect((await start()).url);
  const answered = await again.task(task.task.id).reply("this");
  expect(answered).toMatchObject({ task: { status: { state: "completed" } } });
  expect(sent).toEqual([expect.stringMatching(/^elsewhere\/agent, [\w-]{22}\/asking$/), sent[0]]);

  const own = sent[0]?.split(", ")[1] ?? "";
  await expect(again.send("Hello", { callPath: [own] })).rejects.toMatchObject({ code: "loop-detected" });
});
