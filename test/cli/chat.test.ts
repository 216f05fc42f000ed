import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { agent } from "palaver";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { CliContext } from "../../src/cli/context.ts";
import { demoAgents } from "../../src/demo/agents.ts";
import { openSite, type Site } from "../client/own-server.ts";
import { type Run, Terminal } from "./terminal.ts";

/** Remembers how many messages its context has; asks for a secret; asks by a schema. */
const talker = agent({
  id: "talker",
  name: "Talker",
  description: "Talks.",
  version: "1.0.0",
  async *run(task) {
    if (task.text === "secret") yield `It has ${(await task.ask("The password?", { sensitive: true })).length} letters`;
    else if (task.text === "form")
      yield JSON.stringify(await task.ask("Where to?", { schema: z.object({ x: z.number() }) }));
    else if (task.text === "markdown") yield "# Title\n- `code`\n";
    else if (task.text === "fail") throw new Error("out of order");
    else yield `message ${(await task.conversation()).length} \u001b[31m`;
  },
});

describe("palaver chat", () => {
  const terminal = new Terminal();
  let site: Site;
  beforeEach(async () => {
    terminal.open();
    site = await openSite([...demoAgents, talker]);
  });
  afterEach(async () => {
    terminal.close();
    await site.close();
  });

  /** Types these lines; returns which prompts were hidden too. */
  async function chat(
    id: string,
    lines: readonly string[],
    context: Partial<CliContext> = {},
  ): Promise<Run & { readonly hidden: readonly boolean[] }> {
    const rest = [...lines];
    const hidden: boolean[] = [];
    const prompt = async (
      _question: string,
      options: { readonly hidden?: boolean } = {},
    ): Promise<string | undefined> => {
      hidden.push(options.hidden === true);
      // Longer than the progress line needs to draw again.
      await delay(120);
      return rest.shift();
    };
    const run = await terminal.run(["chat", `${site.url}/agents/${id}`], {
      isTTY: true,
      context: { prompt, ...context },
    });
    return { ...run, hidden };
  }

  it("shows Markdown on a terminal", async () => {
    let written = "";
    const stdout = {
      isTTY: true,
      async write(text: string): Promise<void> {
        written += text;
      },
    };
    await chat("talker", ["markdown"], { stdout });
    expect(written).toContain("\u001b[1mTitle\u001b[0m\n• \u001b[36mcode\u001b[0m");
  });

  it("cancels the task on Ctrl+C, and goes on", async () => {
    let interrupt = (): void => {};
    const onInterrupt = (handler: () => void): (() => void) => {
      interrupt = handler;
      return () => {};
    };
    const stdout = {
      isTTY: false,
      async write(text: string): Promise<void> {
        if (text.includes("9 ")) interrupt();
      },
    };
    const { stderr, code } = await chat("countdown", ["9", "/help"], { onInterrupt, stdout });
    expect(code).toBe(0);
    expect(stderr).toContain("The task was canceled.");
    expect(stderr).toContain("/file PATH");
  });

  it("keeps the context over several messages, until /new", async () => {
    const { code, stdout } = await chat("talker", ["a", "b", "/new", "c"]);
    expect(code).toBe(0);
    const counts = Array.from(stdout.matchAll(/message (\d+)/g), ([, count]) => Number(count));
    expect(counts[1]).toBeGreaterThan(counts[0] ?? 0);
    expect(counts[2]).toBe(counts[0]);
  });

  it("answers the questions of a task with the next lines", async () => {
    const { stdout, stderr } = await chat("booking", ["a table", "4", "2031-05-17", "yes"]);
    expect(stderr).toContain("For how many people?");
    expect(stderr).toContain("Booked: table for 4 on 2031-05-17");
    expect(stdout).toContain('"guests": 4');
  });

  it("asks by the schema of a question, field by field", async () => {
    const { stdout } = await chat("talker", ["form", "7"]);
    expect(stdout).toContain('{"x":7}');
  });

  it("ends with /exit and /quit, also in a field of a form, and sends other lines with a slash to the agent", async () => {
    for (const last of ["/exit", " /quit "]) {
      const { code, stdout } = await chat("talker", ["/other", last, "not sent"]);
      expect(code).toBe(0);
      expect(stdout.match(/message/g)).toHaveLength(1);
    }
    const { code, stdout, stderr } = await chat("talker", ["form", "/quit", "not sent"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("Where to?");
    expect((await terminal.run(["chat", "--help"])).stdout).toMatch(/While you talk:[\s\S]*\/exit, \/quit +leave/);
  });

  it("hides the answer to a secret question", async () => {
    const { stdout, hidden } = await chat("talker", ["secret", "hunter22"]);
    expect(stdout).toContain("It has 8 letters");
    expect(hidden).toEqual([false, true, false]);
  });

  it("sends files, and names those of the answer", async () => {
    writeFileSync(join(terminal.folder, "a.txt"), "hello");
    const { stdout, stderr } = await chat("files", ["/file missing.txt", "/file a.txt", "please"]);
    expect(stderr).toContain("the file does not exist");
    expect(stdout).toContain("[a.txt, text/plain, 5 bytes]");
  });

  it("reports a failed task, and goes on", async () => {
    const { code, stdout, stderr } = await chat("talker", ["fail", "again"]);
    expect(code).toBe(0);
    expect(stderr).toContain("The task failed");
    expect(stdout).toContain("message");
  });

  it("escapes control characters of the agent", async () => {
    expect((await chat("talker", ["a"])).stdout).not.toContain("\u001b");
  });

  it("draws no progress while the user types", async () => {
    const { stderr } = await chat("talker", ["a", "b"]);
    expect(stderr).toContain("Talking to Talker");
    expect(stderr.slice(stderr.indexOf("Talking to"))).not.toContain("Connecting");
  });

  it("needs a terminal", async () => {
    const { code, stderr } = await terminal.run(["chat", site.url]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("needs a terminal");
  });
});

describe("palaver send on a terminal", () => {
  const terminal = new Terminal();
  let site: Site;
  beforeAll(async () => {
    site = await openSite([...demoAgents, talker]);
  });
  afterAll(() => site.close());
  beforeEach(() => terminal.open());
  afterEach(() => terminal.close());

  /** Answers the questions with these lines; returns which of them were hidden too. */
  async function send(argv: readonly string[], lines: readonly string[]) {
    const rest = [...lines];
    const hidden: boolean[] = [];
    const prompt: CliContext["prompt"] = async (_question, options = {}) => {
      hidden.push(options.hidden === true);
      return rest.shift();
    };
    const run = await terminal.run(["send", ...argv], { isTTY: true, context: { prompt } });
    return { ...run, hidden };
  }

  it.each([[[]], [["--stream"]]])("asks when the agent asks, with %j", async (flags) => {
    const at = ["-a", `${site.url}/agents/booking`, ...flags];
    const { code, stdout, stderr } = await send(["a table", ...at], ["4", "2031-05-17", "yes"]);
    expect(code).toBe(0);
    const screen = `${stdout}${stderr}`.replaceAll("\r\u001b[2K", "\n");
    expect(screen.match(/^For how many people\?$/gm)).toHaveLength(1);
    expect(stdout).toContain("TASK_STATE_COMPLETED");
    expect(stdout).toContain('"guests": 4');
  });

  it("hides secrets, and leaves a question open at an empty line", async () => {
    const at = ["-a", `${site.url}/agents/talker`];
    const answered = await send(["secret", ...at], ["hunter22"]);
    expect(answered.stdout).toContain("It has 8 letters");
    expect(answered.hidden).toEqual([true]);
    const open = await send(["secret", ...at], [""]);
    expect(open.stdout).toContain("TASK_STATE_INPUT_REQUIRED");
    expect(open.stdout).toContain("--task-id");
  });

  it("asks nothing with JSON output", async () => {
    const { stdout, hidden } = await send(["secret", "-o", "json", "-a", `${site.url}/agents/talker`], ["x"]);
    expect(stdout).toContain("TASK_STATE_INPUT_REQUIRED");
    expect(hidden).toEqual([]);
  });
});
