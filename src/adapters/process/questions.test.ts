import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  artifactText,
  type OpenProgram,
  type OpenProgramOptions,
  openScript,
  statusText,
} from "./test/open-program.ts";

const opened = (script: string, options: OpenProgramOptions = {}): Promise<OpenProgram> =>
  openScript(script, { protocol: "jsonl", ...options });

const ASK = `echo '{"ask":"Which city?","schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}'`;

/** Counts its starts, asks for a city, and prints the line with the answer. */
const ASKING = `echo x >> starts; read -r first; echo '{"text":"Hm. "}'; ${ASK}; read -r answer
  echo "$answer" > answered; echo '{"text":"Done."}'`;

const starts = (program: OpenProgram): number => readFileSync(program.file("starts"), "utf8").trim().split("\n").length;

describe("a program that asks", () => {
  test("gets the answer on its standard input; invalid answers are asked for again", async () => {
    await using program = await opened(ASKING);
    const asked = await program.harness.send("go");
    expect(asked.status.state).toBe("input-required");
    expect(JSON.stringify(asked.status.message?.parts)).toContain('"required":["city"]');
    const again = await program.harness.send({ taskId: asked.id, parts: [{ data: { city: 5 } }] });
    expect([again.status.state, statusText(again)]).toEqual([
      "input-required",
      expect.stringContaining("must be string"),
    ]);
    const done = await program.harness.send({ taskId: asked.id, parts: [{ data: { city: "Ulm" } }] });
    expect([done.status.state, artifactText(done)]).toEqual(["completed", "Hm. Done."]);
    expect(JSON.parse(readFileSync(program.file("answered"), "utf8"))).toEqual({ answer: { city: "Ulm" } });
    expect(starts(program)).toBe(1);
  });

  test("is stopped while the task is parked, and started again for the answer; its text is not repeated", async () => {
    await using program = await opened(ASKING);
    const { harness } = program;
    const asked = await harness.send("go");
    await harness.advance(31_000);
    await harness.until(async () => (await program.running()).length === 0, "the program to end");
    expect((await harness.get(asked.id)).status.state).toBe("input-required");
    const done = await harness.send({ taskId: asked.id, parts: [{ data: { city: "Ulm" } }] });
    expect([done.status.state, artifactText(done)]).toEqual(["completed", "Hm. Done."]);
    expect(starts(program)).toBe(2);
    const story = await harness.story(asked.id);
    expect(story.filter((line) => line.includes("Hm."))).toHaveLength(1);
  });

  test("gets its answer after the server was killed while it waited", async () => {
    await using program = await opened(ASKING);
    const asked = await program.harness.send("go");
    const after = await program.harness.crash();
    const done = await after.send({ taskId: asked.id, parts: [{ data: { city: "Ulm" } }] });
    expect([done.status.state, artifactText(done)]).toEqual(["completed", "Hm. Done."]);
  });

  test("may end with its question: it is started again with all answers", async () => {
    const script = `read -r first; echo "$first" >> starts
      case "$first" in
        *'"answers":[]'*) echo '{"text":"A"}'; echo '{"ask":"One?","name":"one","restart":true}';;
        *two*) echo '{"text":"C"}';;
        *) echo '{"text":"B"}'; echo '{"ask":"Two?","name":"two","restart":true}';;
      esac`;
    await using program = await opened(script);
    const { harness } = program;
    const asked = await harness.send("go");
    expect(await program.running()).toEqual([]);
    await harness.advance(31_000);
    await harness.send({ taskId: asked.id, parts: [{ text: "1" }] });
    const done = await harness.send({ taskId: asked.id, parts: [{ text: "2" }] });
    expect([done.status.state, artifactText(done)]).toEqual(["completed", "ABC"]);
    const last = readFileSync(program.file("starts"), "utf8").trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last).answers).toEqual([
      { ask: "One?", name: "one", answer: "1" },
      { ask: "Two?", name: "two", answer: "2" },
    ]);
  });

  test.each([
    ["exit 4", "exit code 4"],
    ["exit 0", "ended before it got the answer"],
  ])("fails the task if it ends with `%s` while it waits", async (end, message) => {
    await using program = await opened(`echo '{"ask":"Well?"}'; sleep 0.1; ${end}`);
    const { harness } = program;
    const { taskId } = await harness.start("go");
    await harness.collect(taskId);
    const task = await harness.get(taskId);
    expect([task.status.state, statusText(task)]).toEqual(["failed", expect.stringContaining(message)]);
  });

  test("fails the task if its schema has an unsupported keyword", async () => {
    await using program = await opened(`echo '{"ask":"Well?","schema":{"type":"string","pattern":"^a"}}'; sleep 60`);
    const task = await program.harness.send("go");
    expect([task.status.state, statusText(task)]).toEqual(["failed", expect.stringContaining('"pattern"')]);
    expect(existsSync(program.cwd)).toBe(true);
  });
});
