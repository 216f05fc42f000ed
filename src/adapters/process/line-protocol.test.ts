import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../protocol/json.ts";
import type { Task } from "../../protocol/task.ts";
import {
  artifactText,
  type OpenProgram,
  type OpenProgramOptions,
  openScript,
  statusText,
} from "./test/open-program.ts";

const opened = (script: string, options: OpenProgramOptions = {}): Promise<OpenProgram> =>
  openScript(script, { protocol: "jsonl", ...options });

/** A bash line that prints a JSON object. */
const print = (line: object): string => `echo '${JSON.stringify(line)}'`;

const failureCode = ({ status }: Task): JsonValue | undefined => {
  const data = status.message?.parts.find((part) => part.data !== undefined)?.data;
  return typeof data === "object" && data !== null && "code" in data ? data["code"] : undefined;
};

describe("a program with the protocol jsonl", () => {
  test("gets the message, the ids and the data on its first line", async () => {
    await using program = await opened("head -1 > seen; cat seen >&2");
    const task = await program.harness.send({
      parts: [
        { text: "Hello" },
        { data: { city: "Ulm" } },
        { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" },
      ],
    });
    expect(task.status.state).toBe("completed");
    const seen = program.harness.logs.find(({ message }) => message === "Standard error of the program");
    expect(JSON.parse(String(Reflect.get(seen?.details ?? {}, "line")))).toEqual({
      message: {
        text: "Hello",
        data: { city: "Ulm" },
        files: [{ name: "a.txt", mediaType: "text/plain", bytes: "aGk=" }],
      },
      taskId: task.id,
      contextId: task.contextId,
      attempt: 1,
      history: [],
      answers: [],
    });
  });

  test("reports status, text, artifacts, usage and log lines", async () => {
    const lines = [
      { status: "Looking" },
      { text: "Hello " },
      { text: "world" },
      { artifact: "table", data: { rows: 2 }, description: "Figures" },
      { artifact: "notes", text: "old" },
      { artifact: "notes", text: "new", replace: true, last: true },
      { usage: { inputTokens: 3, cost: 0.5 } },
      { usage: { inputTokens: 4 } },
      { log: "careful", level: "warn" },
    ];
    await using program = await opened(lines.map(print).join("; "));
    const task = await program.harness.send("go");
    expect(task.status.state).toBe("completed");
    expect(artifactText(task)).toBe("Hello world");
    expect(artifactText(task, "notes")).toBe("new");
    expect(task.artifacts?.find(({ name }) => name === "table")).toMatchObject({
      description: "Figures",
      parts: [{ data: { rows: 2 } }],
    });
    expect(task.metadata).toEqual({ usage: { inputTokens: 7, cost: 0.5 } });
    expect(await program.harness.story(task.id)).toContain("working:Looking");
    expect(program.harness.logs).toContainEqual(expect.objectContaining({ level: "warn", message: "careful" }));
  });

  test("sends files of its working directory", async () => {
    await using program = await opened(
      `mkdir out; printf abc > out/a.bin; ${print({ file: "out/a.bin", mediaType: "application/x-test" })}`,
    );
    const task = await program.harness.send("go");
    expect(task.artifacts).toMatchObject([
      { name: "a.bin", parts: [{ raw: "YWJj", filename: "a.bin", mediaType: "application/x-test" }] },
    ]);
  });

  test.each([
    ["/etc/hostname", "process-file-refused", "outside the working directory"],
    ["../secret", "process-file-refused", "outside the working directory"],
    ["link", "process-file-refused", "outside the working directory"],
    ["folder/secret", "process-file-refused", "outside the working directory"],
    ["inner", "process-file-refused", "not a regular file"],
    ["pipe", "process-file-refused", "not a regular file"],
    [".", "process-file-refused", "outside the working directory"],
    ["missing", "process-file-refused", "does not exist"],
    ["large", "process-file-too-large", "more than 1000 bytes"],
  ])("cannot send the file %s", async (file, code, message) => {
    await using program = await opened(`mkfifo pipe; ${print({ file })}; sleep 60`, { maxFile: 1000 });
    writeFileSync(program.file("../secret"), "secret");
    symlinkSync("../secret", program.file("link"));
    symlinkSync("..", program.file("folder"));
    mkdirSync(program.file("inner"));
    writeFileSync(program.file("large"), "x".repeat(1001));
    const task = await program.harness.send("go");
    expect([task.status.state, failureCode(task)]).toEqual(["failed", code]);
    expect(statusText(task)).toContain(message);
    expect(await program.running()).toEqual([]);
  });

  test("ends the task as failed or rejected with a message of its own", async () => {
    await using failing = await opened(`${print({ fail: "No such city." })}; sleep 60`);
    const failed = await failing.harness.send("go");
    expect([failed.status.state, statusText(failed), failureCode(failed)]).toEqual([
      ...["failed", "No such city.", "process-failed"],
    ]);
    await using rejecting = await opened(`${print({ reject: "Not today." })}; sleep 60`);
    const rejected = await rejecting.harness.send("go");
    expect([rejected.status.state, statusText(rejected)]).toEqual(["rejected", "Not today."]);
    expect(await rejecting.running()).toEqual([]);
  });

  test.each([
    ["hello", "it is not JSON"],
    ["[1]", "it is not a JSON object"],
    ["{}", "it has none of the members"],
    ['{"text":1}', "text must be a string"],
    ['{"usage":{"cost":"much"}}', "usage.cost must be a number"],
    ['{"artifact":"a","text":"x","data":1}', "both text and data"],
    ['{"log":"x","level":"loud"}', "level must be one of"],
  ])("fails the task with the line %s", async (line, problem) => {
    await using program = await opened(`echo '${line}'; sleep 60`);
    const task = await program.harness.send("go");
    expect([task.status.state, failureCode(task)]).toEqual(["failed", "process-line-invalid"]);
    expect(statusText(task)).toContain(problem);
    expect(await program.running()).toEqual([]);
  });

  test("reads the next message of its task when it asks for one", async () => {
    await using program = await opened(
      `read -r first; ${print({ next: true, wait: false })}; read -r none; echo "$none" >&2
       ${print({ status: "ready" })}; ${print({ next: true })}; read -r second; echo "$second" >&2`,
    );
    const { harness } = program;
    const { taskId } = await harness.start("one");
    await harness.until(async () => (await harness.story(taskId)).includes("working:ready"));
    const task = await harness.send({ taskId, parts: [{ text: "two" }] });
    expect(task.status.state).toBe("completed");
    const lines = harness.logs.filter(({ message }) => message === "Standard error of the program");
    expect(lines.map(({ details }) => Reflect.get(details ?? {}, "line"))).toEqual([
      '{"message":null}',
      '{"message":{"text":"two"}}',
    ]);
  });

  test("leaves messages that it does not ask for to the next turn", async () => {
    await using program = await opened(
      `read -r line; until [ -e gate ]; do sleep 0.02; done; echo "$line" >> seen; ${print({ text: "x" })}`,
    );
    const { harness } = program;
    const { taskId } = await harness.start("one");
    await harness.start({ taskId, parts: [{ text: "two" }] });
    writeFileSync(program.file("gate"), "");
    await harness.collect(taskId);
    const { readFileSync } = await import("node:fs");
    const seen = readFileSync(program.file("seen"), "utf8").trim().split("\n");
    expect(seen.map((line) => JSON.parse(line).message.text)).toEqual(["one", "two"]);
    expect(JSON.parse(seen[1] ?? "").history).toMatchObject([{ role: "user", text: "one" }]);
  });
});
