import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import type { Agent } from "../../engine/agent/agent.ts";
import type { Task } from "../../protocol/task.ts";
import { EngineHarness } from "../../testing/engine-harness.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { markedProcesses } from "../process/children/process-table.ts";
import { artifactText, statusText } from "../process/test/open-program.ts";
import { acpAgent } from "./acp-agent.ts";
import type { AcpAgentOptions, PermissionRequest } from "./acp-options.ts";

const PROGRAM = fileURLToPath(new URL("./test/scripted-agent.ts", import.meta.url));

interface OpenAcpAgent extends AsyncDisposable {
  readonly harness: EngineHarness;
  readonly agent: Agent;
  file(name: string): string;
}

async function openAcpAgent({
  mode = "",
  ...options
}: Partial<AcpAgentOptions> & { readonly mode?: string } = {}): Promise<OpenAcpAgent> {
  const folder = await temporaryFolder();
  const cwd = folder.file("work");
  mkdirSync(cwd);
  const agent = acpAgent({
    ...{ name: "Coder", command: process.execPath, args: [PROGRAM, mode], cwd, stateFolder: folder.file("state") },
    // The program starts in half the time.
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
    ...{ grace: 500, ...options },
  });
  const harness = await EngineHarness.open({ agents: agent });
  return {
    harness,
    agent,
    file: (name) => `${cwd}/${name}`,
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await agent.close?.();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const codeOf = ({ status }: Task): unknown => {
  const data = status.message?.parts.find((part) => part.data !== undefined)?.data;
  return typeof data === "object" && data !== null && "code" in data ? data["code"] : undefined;
};

const running = async (): Promise<readonly number[]> =>
  (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(process.pid)).map(({ pid }) => pid);

describe("an ACP agent", () => {
  test("streams its text, and its session continues in the next task of the context", async () => {
    await using acp = await openAcpAgent();
    expect(acp.agent.startsPrograms).toBe(true);
    const picture = { raw: "aGk=", mediaType: "image/png" };
    const [first, other, sent] = await Promise.all([
      acp.harness.send("Hello"),
      acp.harness.send("Other"),
      acp.harness.send({ parts: [{ text: "See " }, picture, { raw: "aGk=", filename: "a.zip" }] }),
    ]);
    expect([first.status.state, artifactText(first)]).toEqual(["completed", "You said: Hello. Turns: 1"]);
    const second = await acp.harness.send({ parts: [{ text: "Again" }], contextId: first.contextId });
    expect(artifactText(second)).toBe("You said: Again. Turns: 2");
    expect(artifactText(other)).toBe("You said: Other. Turns: 1");
    expect(artifactText(sent)).toContain("See <image>[The file a.zip");
    expect(await running()).toEqual([]);
  });

  test("reports its plan, tool calls and cost; thoughts only if the author says so", async () => {
    await using acp = await openAcpAgent();
    await using open = await openAcpAgent({ showReasoning: true });
    const [task, shown] = await Promise.all([acp.harness.send("tools"), open.harness.send("tools")]);
    const story = JSON.stringify(await acp.harness.story(task.id));
    expect(story).toContain("Plan: 1 of 2 done; now: Write");
    const log = JSON.stringify(await acp.harness.collect(task.id));
    expect(log).toContain('"tool-use"');
    expect(log).toContain('{"lines":3}');
    expect(task.metadata).toEqual({ usage: { cost: 0.25 } });
    expect(artifactText(task, "reasoning")).toBeUndefined();
    expect(artifactText(shown, "reasoning")).toBe("Hmm.");
  });

  test("gets permissions by a policy", async () => {
    const outcomeOf = async (permissions: NonNullable<AcpAgentOptions["permissions"]>): Promise<string | undefined> => {
      await using acp = await openAcpAgent({ permissions });
      return artifactText(await acp.harness.send("permit rm -rf"));
    };
    const byKind = ({ kind }: PermissionRequest): "allow" | "deny" => (kind === "execute" ? "allow" : "deny");
    expect(await Promise.all(["deny" as const, byKind, () => ({ option: "unknown" })].map(outcomeOf))).toEqual([
      "Asking. Outcome: no.",
      "Asking. Outcome: once.",
      "Asking. Outcome: cancelled.",
    ]);
  });

  test("asks the operator for a permission by default: the caller cannot answer without the code in the log", async () => {
    await using acp = await openAcpAgent();
    const { harness } = acp;
    const asked = await harness.send("permit make");
    expect([asked.status.state, statusText(asked)]).toEqual([
      "input-required",
      expect.stringContaining("the operator: make"),
    ]);
    for (const text of ["yes", "allow", "allow abc"]) {
      const again = await harness.send({ taskId: asked.id, parts: [{ text }] });
      expect(again.status.state).toBe("input-required");
    }
    const line = harness.logs.find(({ message }) => message.startsWith("An agent asks for a permission"));
    const [answer = ""] = Reflect.get(line?.details ?? {}, "answers") as readonly string[];
    const done = await harness.send({ taskId: asked.id, parts: [{ text: answer }] });
    expect([done.status.state, artifactText(done)]).toEqual(["completed", "Asking. Outcome: once."]);
  });

  test("asks the caller if the author says so, also after the server was killed", async () => {
    await using acp = await openAcpAgent({ permissions: "caller" });
    const asked = await acp.harness.send("permit make");
    expect(statusText(asked)).toContain("May the agent do this: make");
    expect(JSON.stringify(asked.status.message?.parts)).toContain('"enum":["always","once","no"]');
    const done = await acp.harness.send({ taskId: asked.id, parts: [{ text: "Only once" }] });
    expect(artifactText(done)).toBe("Asking. Outcome: once.");
    const other = await acp.harness.send("permit test");
    const after = await acp.harness.crash();
    const resumed = await after.send({ taskId: other.id, parts: [{ data: { option: "no" } }] });
    expect([resumed.status.state, artifactText(resumed)]).toEqual(["completed", "Asking. Outcome: no."]);
  });

  test("loads its session after a restart and goes on; the text before is not repeated", async () => {
    await using acp = await openAcpAgent();
    const { harness } = acp;
    const { taskId } = await harness.start("work hard");
    const isHalf = async (): Promise<boolean> => artifactText(await harness.get(taskId)) === "First half. ";
    await vi.waitUntil(isHalf, { timeout: 30_000 });
    const after = await harness.crash();
    await vi.waitUntil(async () => (await after.get(taskId)).status.state === "completed", { timeout: 30_000 });
    expect(artifactText(await after.get(taskId))).toBe("First half. Second half.");
    expect((await after.story(taskId)).filter((line) => line.includes("First half"))).toHaveLength(1);
  });

  test("that cannot load sessions gets the prompt again after a restart", async () => {
    await using acp = await openAcpAgent({ mode: "forgetful" });
    const asked = await acp.harness.send("permit a");
    const after = await acp.harness.crash();
    const line = acp.harness.logs.find(({ message }) => message.startsWith("An agent asks for a permission"));
    const [answer = ""] = Reflect.get(line?.details ?? {}, "answers") as readonly string[];
    const done = await after.send({ taskId: asked.id, parts: [{ text: answer }] });
    expect(artifactText(done)).toBe("Asking. Outcome: once.");
  });

  test("reads and writes files of its working directory only, and has no terminal", async () => {
    await using acp = await openAcpAgent();
    writeFileSync(acp.file("a.txt"), "one\ntwo\nthree");
    writeFileSync(acp.file("../secret"), "a\nb");
    symlinkSync("../secret", acp.file("link"));
    symlinkSync("..", acp.file("up"));
    const say = async (text: string): Promise<string> => artifactText(await acp.harness.send(text)) ?? "";
    const files = (...names: readonly string[]): string => names.map((name) => acp.file(name)).join(" ");
    await using closed = await openAcpAgent({ files: "none" });
    const [reads, writes, terminal, refusedRead] = await Promise.all([
      say(`read ${files("a.txt", "../secret", "link")} /etc/hostname`),
      say(`write ${files("b.txt", "../c.txt", "up/c.txt", "link")} /tmp/palaver-acp`),
      say("terminal"),
      closed.harness.send(`read ${closed.file("a.txt")}`),
    ]);
    const [read, ...outside] = reads.trim().split("\n");
    expect(read).toBe('{"content":"two"}');
    expect(outside).toHaveLength(3);
    for (const line of outside) expect(line).toMatch(/refused: .*outside/);
    const [written, ...refused] = writes.trim().split("\n");
    expect([written, readFileSync(acp.file("b.txt"), "utf8")]).toEqual(["{}", "new"]);
    expect(refused).toHaveLength(4);
    for (const line of refused) expect(line).toMatch(/refused: /);
    expect([existsSync(acp.file("../c.txt")), readFileSync(acp.file("../secret"), "utf8")]).toEqual([false, "a\nb"]);
    expect(terminal).toMatch(/refused: .*terminal\/create/);
    expect(artifactText(refusedRead)).toMatch(/refused: /);
  });

  test("is canceled, also if it does not listen", async () => {
    await using acp = await openAcpAgent();
    const { harness } = acp;
    const cancel = async (word: string): Promise<string> => {
      const { taskId } = await harness.start(word);
      await vi.waitUntil(async () => artifactText(await harness.get(taskId)) === "Waiting.", { timeout: 30_000 });
      await harness.engine.cancel(harness.scope(), taskId);
      return (await harness.get(taskId)).status.state;
    };
    expect(await Promise.all(["wait", "stubborn"].map(cancel))).toEqual(["canceled", "canceled"]);
    await vi.waitUntil(async () => (await running()).length === 0, { timeout: 30_000 });
  });

  test("ends a task whose program refuses, stops, fails, floods or does not start", async () => {
    const end = async (prompt: string, options: Parameters<typeof openAcpAgent>[0] = {}): Promise<unknown> => {
      await using acp = await openAcpAgent(options);
      const task = await acp.harness.send(prompt);
      return [prompt, task.status.state, codeOf(task)];
    };
    const ended = await Promise.all([
      end("refuse"),
      end("long"),
      end("fail"),
      end("crash"),
      end("flood", { maxOutput: 1_000_000 }),
      end("version", { mode: "future" }),
      end("authenticate", { mode: "locked" }),
      end("start", { mode: "silent", startTimeout: 300 }),
    ]);
    expect(ended).toEqual([
      ["refuse", "rejected", undefined],
      ["long", "failed", "acp-stopped"],
      ["fail", "failed", "acp-prompt-failed"],
      ["crash", "failed", "acp-ended"],
      ["flood", "failed", "process-output-too-large"],
      ["version", "failed", "acp-version-unsupported"],
      ["authenticate", "failed", "acp-auth-required"],
      ["start", "failed", "acp-not-started"],
    ]);
    await vi.waitUntil(async () => (await running()).length === 0, { timeout: 30_000 });
  });

  test("refuses invalid options", () => {
    const options = { name: "x", command: process.execPath };
    expect(() => acpAgent({ ...options, command: "no-such-program" })).toThrow(
      'acpAgent(): the program "no-such-program"',
    );
    expect(() => acpAgent({ ...options, files: "all" as never })).toThrow("`files` must be");
    expect(() => acpAgent({ ...options, permissions: "anyone" as never })).toThrow("`permissions` must be");
  });
});
