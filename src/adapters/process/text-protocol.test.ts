import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { artifactText, openScript, statusText } from "./test/open-program.ts";

describe("a program with the protocol text", () => {
  test("gets the message on standard input, and its output is the result", async () => {
    await using opened = await openScript('read -r line; echo "You said: $line"; echo "Bye."');
    const task = await opened.harness.send("Hello");
    expect(task.status.state).toBe("completed");
    expect(artifactText(task)).toBe("You said: Hello\nBye.");
    expect(await opened.running()).toEqual([]);
    expect(opened.records()).toEqual([]);
  });

  test("gets the data of a message without text as JSON", async () => {
    await using opened = await openScript("cat");
    const task = await opened.harness.send({ parts: [{ data: { city: "Ulm" } }] });
    expect(artifactText(task)).toBe('{"city":"Ulm"}');
  });

  test("streams its output before it ends", async () => {
    await using opened = await openScript("echo one; until [ -e gate ]; do sleep 0.02; done; echo two");
    const { harness } = opened;
    const { taskId } = await harness.start("go");
    await harness.until(async () => artifactText(await harness.get(taskId)) === "one", "the first line");
    expect((await harness.get(taskId)).status.state).toBe("working");
    writeFileSync(opened.file("gate"), "");
    const events = await harness.collect(taskId);
    expect(events.at(-1)?.event).toMatchObject({ kind: "status", status: { state: "completed" } });
    expect(artifactText(await harness.get(taskId))).toBe("one\ntwo");
  });

  test.each([
    ["exit 3", "process-exited", "The program ended with exit code 3."],
    ["kill -KILL $$", "process-killed", "The program was ended by the signal SIGKILL."],
  ])("fails the task after `%s`", async (script, code, message) => {
    await using opened = await openScript(`echo partial; ${script}`);
    const task = await opened.harness.send("go");
    expect(task.status.state).toBe("failed");
    expect(statusText(task)).toBe(message);
    expect(JSON.stringify(task)).toContain(code);
    expect(artifactText(task)).toBe("partial");
  });

  test("writes its standard error to the log of the task, and not to the caller", async () => {
    await using opened = await openScript("echo secret >&2; echo shown");
    const task = await opened.harness.send("go");
    expect(JSON.stringify(task)).not.toContain("secret");
    expect(opened.harness.logs).toContainEqual(
      expect.objectContaining({ level: "info", details: expect.objectContaining({ line: "secret" }) }),
    );
  });

  test("gets only allowed variables, and the ids of the task", async () => {
    process.env["PALAVER_TEST_SECRET"] = "s3cret";
    try {
      await using opened = await openScript("env > seen; echo done", { env: { CITY: "Ulm" } });
      const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 1, state: "x=y" };
      const task = await opened.harness.send("go", { trace });
      const seen = readFileSync(opened.file("seen"), "utf8").split("\n");
      expect(seen).toContain("CITY=Ulm");
      expect(seen).toContain(`PALAVER_TASK_ID=${task.id}`);
      expect(seen).toContain(`PALAVER_CONTEXT_ID=${task.contextId}`);
      expect(seen).toContain("PALAVER_ATTEMPT=1");
      expect(seen).toContainEqual(expect.stringMatching(`^TRACEPARENT=00-${trace.traceId}-[0-9a-f]{16}-01$`));
      expect(seen).toContain("TRACESTATE=x=y");
      expect(seen.join()).not.toContain("s3cret");
    } finally {
      delete process.env["PALAVER_TEST_SECRET"];
    }
  });

  test("does not run the start-up files of a shell", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(folder.file(".bashrc"), "echo from bashrc");
    await using opened = await openScript("echo done", { env: { HOME: folder.path } });
    expect(artifactText(await opened.harness.send("go"))).toBe("done");
  });

  test("is started without a shell: arguments are not interpreted", async () => {
    await using opened = await openScript('printf "%s|" "$@"', {
      args: ["-c", 'printf "%s|" "$@"', "x", "$HOME; echo", "*"],
    });
    expect(artifactText(await opened.harness.send("go"))).toBe("$HOME; echo|*|");
  });
});
