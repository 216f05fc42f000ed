import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { Terminal } from "../cli/terminal.ts";
import { agent } from "./world.ts";

test("a question three servers down is answered by a person at the command line after a restart of the server in the middle", async () => {
  const folder = mkdtempSync(join(tmpdir(), "palaver-person-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = async (name: string, run: Parameters<typeof agent>[1], port = 0) => {
    const server = createServer(agent(name, run), {
      ...{ port, host: "127.0.0.1", store: `sqlite:${join(folder, name)}.db`, logger: SILENT_LOGGER, drainTimeout: 0 },
      outgoing: { http: true, allow: ["loopback"] },
    });
    const { url } = await server.listen();
    return { server, url };
  };
  const bottom = await start("bottom", async (task) => {
    const { size } = await task.ask("Which size?", { schema: z.object({ size: z.number() }) });
    return `size ${size}`;
  });
  const passing = (url: () => string) => async (task: Parameters<NonNullable<Parameters<typeof agent>[1]>>[0]) =>
    (await task.call(url(), task.text)).text;
  let middle = await start(
    "middle",
    passing(() => bottom.url),
  );
  const address = middle.url;
  const top = await start(
    "top",
    passing(() => address),
  );
  onTestFinished(async () => {
    await Promise.all([top.server.close(), middle.server.close(), bottom.server.close()]);
  });
  const terminal = new Terminal();
  const asked = await terminal.run(["send", "go", "-a", top.url, "-o", "json"]);
  const task = JSON.parse(asked.stdout) as { task: { id: string; status: { state: string } } };
  expect(task.task.status.state).toMatch(/input.required/i);
  await middle.server.close();
  middle = await start(
    "middle",
    passing(() => bottom.url),
    Number(new URL(address).port),
  );
  const shown = await terminal.run(["task", "get", task.task.id, "-a", top.url]);
  expect(shown.stdout).toContain("Which size?");
  const answered = await terminal.run(["send", '{"size": 7}', "--task-id", task.task.id, "-a", top.url]);
  expect(answered.stdout).toContain("size 7");
  const tree = await terminal.run(["task", "tree", task.task.id, "-a", top.url]);
  expect(tree.stdout).toContain("└─");
  expect(tree.stdout.match(/completed/g)).toHaveLength(3);
});
