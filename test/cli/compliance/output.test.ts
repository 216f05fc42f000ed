import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wireTask } from "../scripted-agent.ts";
import { fieldsOf, linesOf } from "../terminal.ts";
import { openSetting } from "./setting.ts";

const { at, script, terminal, world } = openSetting();

describe("output", () => {
  it("A2ACLI_OUT_001 prints task, context and state in every format, and only the result on standard output", async () => {
    const text = await terminal.run(["send", "x", ...at("failing")]);
    const ids = { Task: expect.any(String), Context: expect.any(String), State: "TASK_STATE_FAILED" };
    expect(fieldsOf(text.stdout)).toMatchObject(ids);
    expect(text.stdout).not.toContain("Warning");
    expect(text.stderr).toContain("Warning");
    const json = JSON.parse((await terminal.run(["send", "x", "-o", "json", ...at("failing")])).stdout);
    expect(json.task).toMatchObject({
      id: expect.any(String),
      contextId: expect.any(String),
      status: { state: ids.State },
    });
    for (const format of [[], ["-o", "json"]]) {
      const { stdout } = await terminal.run(["send", "x", "--stream", ...format, ...at("failing")]);
      const last =
        format.length === 0 ? stdout.split("\n").slice(-5).join("\n") : (stdout.trimEnd().split("\n").at(-1) ?? "");
      expect(last).toContain("TASK_STATE_FAILED");
    }
    for (const verb of ["get", "cancel"]) {
      const { stdout } = await terminal.run(["task", verb, json.task.id, ...at("failing")]);
      if (verb === "get") expect(fieldsOf(stdout)).toMatchObject({ ...ids, Task: json.task.id });
    }
  });

  it("A2ACLI_OUT_002 prints one JSON document with -o json: the final task, never its events", async () => {
    for (const id of ["echo", "countdown", "booking"]) {
      const { stdout } = await terminal.run(["send", "1", "-o", "json", ...at(id)]);
      expect(Object.keys(JSON.parse(stdout))).toEqual(["task"]);
    }
    const message = await terminal.run(["send", "message: hi", "-o", "json", ...at("echo")]);
    expect(JSON.parse(message.stdout)).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "hi" }] } });
    // Only the flag selects a stream; the environment variable does not.
    const env = { A2ACLI_STREAM: "true" };
    const { stdout } = await terminal.run(["send", "1", "-o", "json", ...at("countdown")], { env, isTTY: true });
    expect(Object.keys(JSON.parse(stdout))).toEqual(["task"]);
  });

  it("A2ACLI_OUT_003 prints one event per line with -o json --stream, as it arrives", async () => {
    const counts: number[] = [];
    const onOutput = (stdout: string) => void counts.push(stdout.split("\n").length - 1);
    const { stdout } = await terminal.run(["send", "2", "-o", "json", "--stream", ...at("countdown")], { onOutput });
    expect(counts).toEqual(counts.map((_, index) => index + 1));
    const lines = linesOf(stdout);
    expect(lines.length).toBe(counts.length);
    expect(lines.map((line) => Object.keys(line)[0])).toContain("artifactUpdate");
    expect(lines.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("A2ACLI_OUT_003 prints an error object last if an error ends the stream", async () => {
    const agent = await script({
      card: { capabilities: { streaming: true } },
      reply: ({ method }) =>
        method === "SendStreamingMessage"
          ? { events: [{ task: wireTask("t", "WORKING") }], cut: true }
          : { error: { code: -32001, message: "gone" } },
    });
    const { code, stdout } = await terminal.run([
      "send",
      "x",
      "-o",
      "json",
      "--stream",
      "--timeout",
      "8s",
      "-a",
      agent.url,
    ]);
    expect(code).not.toBe(0);
    const lines = linesOf(stdout);
    expect(lines[0]).toMatchObject({ task: { id: "t" } });
    expect(lines.at(-1)).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  it("A2ACLI_OUT_004 reports protocol errors by their names, the same over every binding", async () => {
    const errors = [];
    for (const transport of ["jsonrpc", "rest"]) {
      const argv = ["task", "get", "nobody-has-this", "-o", "json", "--transport", transport, ...at("echo")];
      const { code, stdout } = await terminal.run(argv);
      expect(code).toBe(1);
      const { error } = JSON.parse(stdout);
      expect(error).toMatchObject({ hint: expect.stringContaining("palaver task list") });
      const { a2aCode: _differs, ...same } = error;
      errors.push(same);
    }
    expect(errors[0]).toEqual(errors[1]);
    expect(errors[0]).toMatchObject({ code: "TaskNotFoundError" });
  });

  it("A2ACLI_OUT_004 reports its own errors by the codes of the registry, and others with its own prefix", async () => {
    const code = async (...argv: string[]): Promise<[number, string]> => {
      const run = await terminal.run([...argv, "-o", "json"]);
      return [run.code, JSON.parse(run.stdout).error.code];
    };
    expect(await code("send", "x")).toEqual([2, "A2ACLI_ERR_USAGE"]);
    expect(await code("send", "x", "--nonsense")).toEqual([2, "A2ACLI_ERR_USAGE"]);
    expect(await code("sned", "x")).toEqual([2, "A2ACLI_ERR_USAGE"]);
    expect(await code("card", "get", "-a", `${world.url}/nothing/here.json`)).toEqual([3, "A2ACLI_ERR_CARD_NOT_FOUND"]);
    expect(await code("card", "get", "-a", "./no-such-card.json")).toEqual([3, "A2ACLI_ERR_CARD_NOT_FOUND"]);
    expect(await code("card", "get", "-a", "http://127.0.0.1:9")).toEqual([3, "A2ACLI_ERR_UNREACHABLE"]);
    const broken = await script({ card: { name: 7, supportedInterfaces: "none" }, reply: () => ({ result: {} }) });
    expect(await code("card", "get", "-a", broken.url)).toEqual([1, "A2ACLI_ERR_CARD_INVALID"]);
    const busy = await script({ reply: () => ({ status: 429 }) });
    expect((await code("task", "get", "t", "-a", busy.url))[1]).toBe("PALAVER_ERR_RATE_LIMITED");
  });

  it("A2ACLI_OUT_005 prints text as fields and blocks without control sequences, also on a terminal", async () => {
    const plain = await terminal.run(["send", "all", ...at("rich")]);
    const watched = await terminal.run(["send", "all", ...at("rich")], { isTTY: true });
    const labels = (text: string) => text.split("\n").flatMap((line) => /^([\w ]+):( |$)/.exec(line)?.[1] ?? []);
    expect(labels(watched.stdout)).toEqual(labels(plain.stdout));
    for (const { stdout } of [plain, watched]) {
      expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
      let inBlock = false;
      for (const line of stdout.trimEnd().split("\n")) {
        if (inBlock) inBlock = line !== "";
        else if (/^[\w ]+:$/.test(line)) inBlock = true;
        else expect(line).toMatch(/^[\w ]+: .+$/);
      }
    }
    // Text from an agent cannot imitate the command's own fields.
    expect(fieldsOf(plain.stdout)["Task"]).not.toBe("forged");
  });

  it("A2ACLI_OUT_006 prints the ids with --async", async () => {
    const { stdout } = await terminal.run(["send", "x", "--async", "-o", "json", ...at("slow")]);
    const { task } = JSON.parse(stdout);
    expect(task).toMatchObject({ id: expect.any(String), contextId: expect.any(String) });
    const later = await terminal.run(["task", "get", task.id, "-o", "json", ...at("slow")]);
    expect(JSON.parse(later.stdout).id).toBe(task.id);
  });

  it("A2ACLI_OUT_007 prints requests and responses on standard error with --debug", async () => {
    const { stdout, stderr } = await terminal.run(["send", "Hello", "--debug", "-o", "json", ...at("echo")]);
    expect(JSON.parse(stdout).task.artifacts[0].parts).toEqual([{ text: "Hello" }]);
    expect(stderr).toMatch(/> GET .*agent-card\.json/);
    expect(stderr).toMatch(/> POST /);
    expect(stderr).toMatch(/> a2a-version: \d/);
    expect(stderr).toMatch(/> \{.*"method":"Send\w*Message".*"Hello"/);
    expect(stderr).toMatch(/< 200 .* after \d+ ms/);
    expect(stderr).toMatch(/< .*TASK_STATE_COMPLETED/);
    expect(stderr).toMatch(/\[palaver\] JSONRPC .* is used/);
    expect((await terminal.run(["send", "Hello", ...at("echo")])).stderr).toBe("");
  });
});

describe("exit codes", () => {
  it("A2ACLI_EXIT_001 uses the exit codes 0, 1 and 2, and 3, 4 and 5 with their reserved meaning", async () => {
    const agent = await script({ reply: () => ({ result: wireTask("t", "WORKING") }) });
    const strict = await script({ reply: () => ({ status: 401 }) });
    const code = async (...argv: string[]) => (await terminal.run(argv)).code;
    expect(await code("send", "x", ...at("echo"))).toBe(0);
    expect(await code("task", "get", "none", ...at("echo"))).toBe(1);
    expect(await code("task", "get", ...at("echo"))).toBe(2);
    expect(await code("send", "x", "-a", "http://127.0.0.1:9")).toBe(3);
    expect(await code("task", "get", "t", "-a", strict.url)).toBe(4);
    expect(await code("task", "get", "t", "--bearer", "wrong-token", "-a", strict.url)).toBe(4);
    expect(await code("task", "get", "t", "--wait", "--timeout", "50ms", "-a", agent.url)).toBe(5);
    const named = async (...argv: string[]): Promise<unknown> => {
      const { error }: { error: { code: string } } = JSON.parse((await terminal.run([...argv, "-o", "json"])).stdout);
      return error.code;
    };
    expect(await named("task", "get", "t", "-a", strict.url)).toBe("A2ACLI_ERR_CREDENTIALS_MISSING");
    expect(await named("task", "get", "t", "--bearer", "wrong-token", "-a", strict.url)).toBe("A2ACLI_ERR_AUTH_FAILED");
    const full = join(terminal.folder, "full");
    writeFileSync(full, "");
    expect(await named("task", "download", "t", "--dir", full, "-a", agent.url)).toBe("A2ACLI_ERR_INTERNAL");
  });

  it("A2ACLI_EXIT_002 exits with 0 whatever the task's final state; a warning reports that state", async () => {
    const outcomes = { failing: "FAILED", rejecting: "REJECTED", booking: "INPUT_REQUIRED", locked: "AUTH_REQUIRED" };
    for (const [id, state] of Object.entries(outcomes)) {
      for (const stream of [[], ["--stream"]]) {
        const { code, stdout, stderr } = await terminal.run(["send", "x", ...stream, ...at(id)]);
        expect(code, id).toBe(0);
        expect(fieldsOf(stdout)["State"]).toBe(`TASK_STATE_${state}`);
        expect(stderr).toMatch(new RegExp(`^Warning: .*TASK_STATE_${state}`));
      }
    }
  });
});
