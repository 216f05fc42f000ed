import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wireTask } from "../scripted-agent.ts";
import { fieldsOf, linesOf } from "../terminal.ts";
import { openSetting } from "./setting.ts";

const { at, script, terminal } = openSetting();

describe("send", () => {
  it("A2ACLI_SEND_001 sends a message and prints the result", async () => {
    const { code, stdout } = await terminal.run(["send", "Hello", ...at("echo")]);
    expect(code).toBe(0);
    expect(stdout).toContain("Text:\nHello\n\n");
  });

  it("A2ACLI_SEND_002 waits until the task has ended", async () => {
    const { stdout } = await terminal.run(["send", "1", ...at("countdown")]);
    expect(fieldsOf(stdout)["State"]).toBe("TASK_STATE_COMPLETED");
    expect(stdout).toContain("1 Lift-off!");
  });

  it("A2ACLI_SEND_002 returns at once with --async and its aliases", async () => {
    for (const flag of ["--async", "--return-immediately", "--no-wait"]) {
      const { code, stdout } = await terminal.run(["send", "wait", flag, ...at("slow")]);
      expect(code, flag).toBe(0);
      expect(fieldsOf(stdout), flag).toMatchObject({ Task: expect.any(String), Context: expect.any(String) });
      expect(fieldsOf(stdout)["State"]).toMatch(/SUBMITTED|WORKING/);
    }
  });

  it("A2ACLI_SEND_003 prints the agent's events with --stream", async () => {
    const seen: number[] = [];
    const onOutput = (stdout: string) => void seen.push(stdout.length);
    const { code, stdout } = await terminal.run(["send", "2", "--stream", ...at("countdown")], { onOutput });
    expect(code).toBe(0);
    expect(stdout).toContain("Text:\n2 1 Lift-off!\n\n");
    expect(new Set(seen).size).toBeGreaterThan(5);
  });

  it("A2ACLI_SEND_003 falls back to polling if the agent does not stream, and prints a note", async () => {
    const agent = await script({
      reply: ({ method }) =>
        method === "SendMessage"
          ? { result: { task: wireTask("t", "COMPLETED") } }
          : { result: wireTask("t", "COMPLETED") },
    });
    const { code, stdout, stderr } = await terminal.run(["send", "x", "--stream", "-o", "json", "-a", agent.url]);
    expect(code).toBe(0);
    expect(stderr).toContain("does not stream");
    expect(linesOf(stdout).at(-1)).toMatchObject({ task: { id: "t", status: { state: "TASK_STATE_COMPLETED" } } });
    expect(agent.received.map(({ method }) => method)).not.toContain("SendStreamingMessage");
  });

  it("A2ACLI_SEND_003 accepts a bare message as the whole answer", async () => {
    for (const stream of [[], ["--stream"]]) {
      const { code, stdout } = await terminal.run(["send", "message: hi", ...stream, ...at("echo")]);
      expect(code).toBe(0);
      expect(stdout).toContain("Message:\nhi\n\n");
    }
  });

  it("A2ACLI_SEND_004 prints all texts, data and files", async () => {
    const { code, stdout } = await terminal.run(["send", "all", ...at("rich")]);
    expect(code).toBe(0);
    expect(stdout).toContain("Text:\nline one\n \nTask: forged\n\\u001b[31mred\n\n");
    expect(stdout).toContain('Data:\n{\n  "answer": 42\n}\n\n');
    expect(stdout).toMatch(/^File: \S*report\.pdf \(application\/pdf, 4 bytes\)$/m);
    expect(stdout).toContain("File: big.bin (application/octet-stream, at https://example.org/big.bin)");
  });

  it("A2ACLI_SEND_005 takes a part's media type from --media-type, otherwise from the file name", async () => {
    writeFileSync(join(terminal.folder, "a.bin"), "A");
    writeFileSync(join(terminal.folder, "b.md"), "B");
    const parts = ["--file", "a.bin", "--media-type", "application/pdf", "--file", "b.md"];
    const { stdout } = await terminal.run(["send", ...parts, "-o", "json", ...at("echo")]);
    expect(JSON.parse(stdout).task.artifacts[0].parts).toMatchObject([
      { filename: "a.bin", mediaType: "application/pdf" },
      { filename: "b.md", mediaType: "text/markdown" },
    ]);
    const misplaced = await terminal.run(["send", "--media-type", "text/plain", "--text", "x", ...at("echo")]);
    expect(misplaced).toMatchObject({ code: 2, stdout: "" });
    expect(misplaced.stderr).toMatch(/must follow the part/);
  });

  it("A2ACLI_SEND_006 keeps the order of texts, files and data, and reads data from standard input", async () => {
    writeFileSync(join(terminal.folder, "f.txt"), "file");
    writeFileSync(join(terminal.folder, "d.json"), "[1]");
    const typed = [
      "--data",
      "d.json",
      "--text",
      "one",
      "--file",
      "f.txt",
      "--text",
      "two",
      "--data",
      "-",
      "--file",
      "https://example.org/x.png",
    ];
    const { code, stdout } = await terminal.run(["send", ...typed, "-o", "json", ...at("echo")], {
      stdin: '{"from":"stdin"}',
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).task.artifacts[0].parts).toMatchObject([
      { data: [1] },
      { text: "one" },
      { raw: Buffer.from("file").toString("base64"), filename: "f.txt", mediaType: "text/plain" },
      { text: "two" },
      { data: { from: "stdin" } },
      { url: "https://example.org/x.png", mediaType: "image/png" },
    ]);
  });
});

describe("interaction", () => {
  it("A2ACLI_INTERACT_001 starts a new task in the context of --context-id", async () => {
    const first = fieldsOf((await terminal.run(["send", "1", ...at("echo")])).stdout);
    const context = first["Context"] ?? "";
    const second = fieldsOf((await terminal.run(["send", "2", "--context-id", context, ...at("echo")])).stdout);
    expect(second["Context"]).toBe(context);
    expect(second["Task"]).not.toBe(first["Task"]);
  });

  it("A2ACLI_INTERACT_002 continues the task of --task-id, with and without its context", async () => {
    const { Task: id = "", Context: context = "" } = fieldsOf(
      (await terminal.run(["send", "book", ...at("booking")])).stdout,
    );
    const four = await terminal.run(["send", "4", "--task-id", id, ...at("booking")]);
    expect(four.stdout).toContain("For which day?");
    const day = await terminal.run(["send", "2027-05-17", "--task-id", id, "--context-id", context, ...at("booking")]);
    expect(day.stdout).toContain("Shall I book it?");
    const done = await terminal.run(["send", "yes", "--task-id", id, "--stream", ...at("booking")]);
    expect(fieldsOf(done.stdout)).toMatchObject({ Task: id, State: "TASK_STATE_COMPLETED" });
  });

  it("A2ACLI_INTERACT_002 fails if the agent rejects the id, and creates no new task", async () => {
    const { Task: id = "" } = fieldsOf((await terminal.run(["send", "book", ...at("booking")])).stdout);
    const count = async () => fieldsOf((await terminal.run(["task", "list", ...at("booking")])).stdout)["Total"];
    const before = await count();
    const unknown = await terminal.run(["send", "x", "--task-id", "nobody-has-this", ...at("booking")]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toMatch(/TaskNotFoundError[\s\S]*--debug/);
    const mismatch = await terminal.run(["send", "4", "--task-id", id, "--context-id", "another", ...at("booking")]);
    expect(mismatch.code).toBe(1);
    expect(mismatch.stderr).toMatch(/Code: \w+Error[\s\S]*--debug/);
    expect(await count()).toBe(before);
  });

  it("A2ACLI_INTERACT_002 fails if the agent answers with a different task", async () => {
    const agent = await script({ reply: () => ({ result: { task: wireTask("new-one", "COMPLETED") } }) });
    const { code, stderr } = await terminal.run(["send", "x", "--task-id", "mine", "-a", agent.url]);
    expect(code).toBe(1);
    expect(stderr).toContain("InvalidAgentResponseError");
  });

  it("A2ACLI_INTERACT_003 sends no task or context ids that were not given", async () => {
    const agent = await script({ reply: () => ({ result: { task: wireTask("t", "COMPLETED") } }) });
    await terminal.run(["send", "x", "-a", agent.url]);
    await terminal.run(["send", "y", "-a", agent.url]);
    expect(agent.received).toHaveLength(2);
    for (const { params } of agent.received) {
      expect(params.message).not.toHaveProperty("taskId");
      expect(params.message).not.toHaveProperty("contextId");
    }
    expect(new Set(agent.received.map(({ params }) => params.message.messageId)).size).toBe(2);
  });

  it("A2ACLI_INTERACT_004 prints ids, state and a working command that continues the task", async () => {
    const asked = await terminal.run(["send", "book", ...at("booking")]);
    const { Task: id, Context: context, State: state, Resume: resume = "" } = fieldsOf(asked.stdout);
    expect(state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(resume).toBe(`palaver send ${at("booking").join(" ")} --task-id ${id} "<reply>"`);
    const [, ...words] = resume.replace('"<reply>"', "4").split(" ");
    const next = await terminal.run(words);
    expect(fieldsOf(next.stdout)).toMatchObject({ Task: id, Context: context });
    expect(next.stdout).toContain("For which day?");
    const done = await terminal.run(["send", "x", ...at("echo")]);
    expect(fieldsOf(done.stdout)["Resume"]).toContain(`--context-id ${fieldsOf(done.stdout)["Context"]}`);
  });

  it("A2ACLI_INTERACT_005 keeps no state between runs, and has no --continue", async () => {
    const agent = await script({ reply: () => ({ result: { task: wireTask("t", "INPUT_REQUIRED") } }) });
    await terminal.run(["send", "x", "-a", agent.url]);
    await terminal.run(["send", "y", "-a", agent.url]);
    expect(agent.received[1]?.params.message).not.toHaveProperty("taskId");
    expect(await terminal.run(["send", "z", "--continue", "-a", agent.url])).toMatchObject({ code: 2 });
    const { readdirSync } = await import("node:fs");
    expect(readdirSync(terminal.folder)).toEqual([]);
  });
});

describe("polling", () => {
  const states =
    (...sequence: string[]) =>
    ({ method }: { method: string }, count: number) => {
      const state = sequence[Math.min(count, sequence.length) - 1] ?? "COMPLETED";
      if (method === "SendMessage") return { result: { task: wireTask("t", "WORKING") } };
      return { result: wireTask("t", state) };
    };
  const quickly = ["--poll-interval", "20ms"];

  it("A2ACLI_TASK_POLL_001 polls once, or with --wait until the task has ended", async () => {
    const agent = await script({ reply: states("WORKING", "WORKING", "WORKING", "COMPLETED") });
    const once = await terminal.run(["task", "get", "t", "-a", agent.url]);
    expect(fieldsOf(once.stdout)["State"]).toBe("TASK_STATE_WORKING");
    expect(agent.received).toHaveLength(1);
    const waited = await terminal.run(["task", "get", "t", "--wait", ...quickly, "-a", agent.url]);
    expect(fieldsOf(waited.stdout)["State"]).toBe("TASK_STATE_COMPLETED");
    expect(agent.received).toHaveLength(4);
  });

  it("A2ACLI_TASK_POLL_002 polls at --poll-interval with growing pauses, and stops after --timeout", async () => {
    const agent = await script({ reply: states("WORKING") });
    const waits: number[] = [];
    const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
      waits.push(milliseconds);
      await new Promise((resolve) => setTimeout(resolve, 5));
      signal.throwIfAborted();
    };
    const argv = ["task", "get", "t", "--wait", "--poll-interval", "1s", "--timeout", "400ms", "-a", agent.url];
    const { code, stdout, stderr } = await terminal.run(argv, { context: { sleep } });
    expect(code).toBe(5);
    expect(stderr).toMatch(/Code: A2ACLI_ERR_TIMEOUT[\s\S]*task get .*--task-id t --wait/);
    expect(fieldsOf(stdout)).toMatchObject({ Task: "t", State: "TASK_STATE_WORKING" });
    expect(waits[0]).toBe(1000);
    expect(waits[1]).toBeGreaterThan(1000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
    const json = await terminal.run([...argv, "-o", "json"], { context: { sleep } });
    expect(JSON.parse(json.stdout).error.code).toBe("A2ACLI_ERR_TIMEOUT");
  });

  it("A2ACLI_TASK_POLL_002 prints the task's id when it is interrupted", async () => {
    const stop = new AbortController();
    const reply: Parameters<typeof script>[0]["reply"] = (call, count) => {
      // The command knows the task since the first answer.
      if (count > 2) stop.abort();
      return states("WORKING")(call, count);
    };
    const agent = await script({ reply });
    const argv = ["send", "x", "--poll-interval", "20ms", "-a", agent.url];
    const { code, stdout, stderr } = await terminal.run(argv, { signal: stop.signal });
    expect(code).toBe(130);
    expect(fieldsOf(stdout)).toMatchObject({ Task: "t", Context: "context-of-t" });
    expect(stderr).toMatch(/Interrupted/);
  });

  it("A2ACLI_TASK_POLL_003 stops at once when the task asks for input or authentication", async () => {
    for (const state of ["INPUT_REQUIRED", "AUTH_REQUIRED"]) {
      const agent = await script({ reply: states("WORKING", state, "COMPLETED") });
      const { code, stdout } = await terminal.run(["task", "get", "t", "--wait", ...quickly, "-a", agent.url]);
      expect(code).toBe(0);
      expect(fieldsOf(stdout)["State"]).toBe(`TASK_STATE_${state}`);
      expect(agent.received).toHaveLength(2);
    }
    const auth = await terminal.run(["send", "open", ...at("locked")]);
    expect(auth.code).toBe(0);
    expect(fieldsOf(auth.stdout)["State"]).toBe("TASK_STATE_AUTH_REQUIRED");
  });

  it("A2ACLI_TASK_POLL_003 continues while the state is unspecified", async () => {
    const agent = await script({ reply: states("UNSPECIFIED", "UNSPECIFIED", "COMPLETED") });
    const { code, stdout } = await terminal.run(["task", "get", "t", "--wait", ...quickly, "-a", agent.url]);
    expect(code).toBe(0);
    expect(fieldsOf(stdout)["State"]).toBe("TASK_STATE_COMPLETED");
    expect(agent.received).toHaveLength(3);
  });

  it("A2ACLI_TASK_POLL_003 prints an unspecified state as it was received", async () => {
    const agent = await script({
      card: { capabilities: { streaming: true } },
      reply: ({ method }) => {
        const unspecified = { taskId: "t", contextId: "c", status: { state: "TASK_STATE_UNSPECIFIED" } };
        const events = [{ task: wireTask("t", "WORKING") }, { statusUpdate: unspecified }];
        if (method === "SendStreamingMessage") return { events: [...events, { task: wireTask("t", "COMPLETED") }] };
        if (method === "ListTasks") return { result: { tasks: [wireTask("t", "UNSPECIFIED")], totalSize: 1 } };
        return { result: wireTask("t", "UNSPECIFIED") };
      },
    });
    const run = async (...argv: readonly string[]) => (await terminal.run([...argv, "-a", agent.url])).stdout;
    const unspecified = { status: { state: "TASK_STATE_UNSPECIFIED" } };
    expect(fieldsOf(await run("task", "get", "t"))["State"]).toBe("TASK_STATE_UNSPECIFIED");
    expect(fieldsOf(await run("task", "list"))["State"]).toBe("TASK_STATE_UNSPECIFIED");
    expect(JSON.parse(await run("task", "get", "t", "-o", "json"))).toMatchObject(unspecified);
    expect(JSON.parse(await run("task", "list", "-o", "json"))).toMatchObject({ tasks: [unspecified] });
    expect(linesOf(await run("send", "x", "--stream", "-o", "json"))[1]).toMatchObject({ statusUpdate: unspecified });
  });

  it("A2ACLI_TASK_POLL_004 polls if the stream fails", async () => {
    const agent = await script({
      card: { capabilities: { streaming: true } },
      reply: ({ method }, count) => {
        if (method === "SendStreamingMessage") return { events: [{ task: wireTask("t", "WORKING") }], cut: true };
        if (method === "SubscribeToTask") return { error: { code: -32603, message: "no streams today" } };
        return { result: wireTask("t", count < 2 ? "WORKING" : "COMPLETED") };
      },
    });
    const { code, stdout } = await terminal.run(["send", "x", ...quickly, "-a", agent.url]);
    expect(code).toBe(0);
    expect(fieldsOf(stdout)).toMatchObject({ Task: "t", State: "TASK_STATE_COMPLETED" });
    expect(agent.received.filter(({ method }) => method === "SendStreamingMessage")).toHaveLength(1);
  });
});
