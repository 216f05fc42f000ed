import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, describe, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { CommandLine } from "../cli/command-line.ts";
import { Terminal } from "../cli/terminal.ts";
import { freePort } from "../examples/hosts.ts";
import { readPage } from "./code-blocks.ts";

const PAGE = masked(readPage("docs/guide/tutorial.md"));
const program = (name: string): string => join(ROOT, "examples", "tutorial", name);

const lines: CommandLine[] = [];
const receivers: ChildProcess[] = [];
afterAll(async () => {
  for (const receiver of receivers) receiver.kill("SIGKILL");
  for (const line of lines) await line.close();
});

function commandLine(): CommandLine {
  const line = new CommandLine();
  lines.push(line);
  return line;
}

// At the same time: the programs sleep more than they work.
describe.concurrent("docs/guide/tutorial.md shows what its commands print", { timeout: 90_000 }, () => {
  it("steps 2 and 3: the server announces itself, and the list is streamed", async ({ expect }) => {
    const line = commandLine();
    const server = await line.serve([program("first-agent.ts")]);
    await until(() => server.stdout().includes("Process: "));
    const announced = server.stdout().split("Try ")[0] ?? "";
    expect(PAGE).toContain(masked(announced));
    expect(PAGE).toContain(masked(await printed(["send", "Lisbon", "-a", server.url, "--stream"])));
  });

  it("steps 4 and 5: the agent asks, and a stream survives kill -9 of the server", async ({ expect }) => {
    const line = commandLine();
    const first = await line.serve([program("packing-list.ts")]);
    const asked = await printed(["send", "Lisbon", "-a", first.url]);
    expect(PAGE).toContain(masked(asked));
    expect(first.stdout()).toContain("Looking up the weather in Lisbon");

    const task = taskIn(asked);
    const streaming = line.run(["send", "-a", first.url, "--task-id", task, "3", "--stream"]);
    await until(async () => (await taskAt(first.url, task)).includes("charger"));
    await first.kill("SIGKILL");
    const second = await line.serve([program("packing-list.ts")], { PORT: new URL(first.url).port });
    expect(PAGE).toContain(masked((await streaming).stdout));
    expect(second.stdout()).not.toContain("Looking up");
  });

  it("steps 6 and 7: a program streams the result and answers the question; the webhook receives every event in order, with a valid signature", async ({
    expect,
  }) => {
    const line = commandLine();
    const server = await line.serve([program("packing-list.ts"), "--outgoing-http", "--outgoing-allow", "loopback"]);
    const { stdout } = await promisify(execFile)(process.execPath, [program("call.ts"), server.url]);
    expect(PAGE).toContain(stdout);

    const port = await freePort();
    const hook = `http://127.0.0.1:${port}/`;
    const args = ["hooks", "listen", "--issuer", server.url, "--port", String(port)];
    const receiver = spawn(process.execPath, [join(ROOT, "src", "cli", "main.ts"), ...args]);
    receivers.push(receiver);
    let output = "";
    receiver.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    await until(() =>
      fetch(hook).then(
        () => true,
        () => false,
      ),
    );

    const task = taskIn(await printed(["send", "Rome", "-a", server.url]));
    await printed(["task", "push-config", "create", task, "--url", hook, "-a", server.url]);
    await printed(["send", "--task-id", task, "4", "-a", server.url]);
    await until(() => output.includes("status completed"));
    const verified = output.split("\n").filter((text) => text.includes("verified"));
    expect(PAGE).toContain(masked(verified.join("\n")));
  });
});

/** What a command prints that runs in this process. */
async function printed(args: readonly string[]): Promise<string> {
  const terminal = new Terminal();
  terminal.open();
  try {
    return (await terminal.run(args)).stdout;
  } finally {
    terminal.close();
  }
}

/** Text without what differs from run to run: ids, ports, folders, times of day, and how the command was started. */
function masked(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "ID")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replaceAll(/^\d\d:\d\d:\d\d\.\d{3}/gm, "TIME")
    .replaceAll(/^Data: .*$/gm, "Data: FILE")
    .replaceAll(/\/console\/#[\w-]+/g, "/console/#CODE")
    .replaceAll(/^Process: \d+$/gm, "Process: PID")
    .replaceAll(/^Resume: (npx )?palaver/gm, "Resume: palaver");
}

async function taskAt(url: string, id: string): Promise<string> {
  const response = await fetch(`${url}/tasks/${id}`, { headers: { "a2a-version": "1.0" } });
  return response.text();
}

function taskIn(output: string): string {
  const [, id] = /^Task: (\S+)$/m.exec(output) ?? [];
  if (id === undefined) throw new Error(`No task in the output:\n${output}`);
  return id;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(50);
}
