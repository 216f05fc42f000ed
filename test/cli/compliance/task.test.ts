import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wireTask } from "../scripted-agent.ts";
import { fieldsOf, linesOf } from "../terminal.ts";
import { openSetting } from "./setting.ts";

const { at, script, terminal } = openSetting();

const made = async (...words: string[]): Promise<string> =>
  fieldsOf((await terminal.run(["send", ...words])).stdout)["Task"] ?? "";

describe("task get", () => {
  it("A2ACLI_TASK_GET_001 shows state, artifacts and history, and omits nothing", async () => {
    const id = await made("all", ...at("rich"));
    const { code, stdout } = await terminal.run(["task", "get", id, "--history", "5", ...at("rich")]);
    expect(code).toBe(0);
    expect(fieldsOf(stdout)).toMatchObject({ Task: id, Context: expect.any(String), State: "TASK_STATE_COMPLETED" });
    for (const shown of [
      "Text:\nline one",
      '"answer": 42',
      "report.pdf (application/pdf, 4 bytes)",
      "User:\nall\n\n",
    ]) {
      expect(stdout).toContain(shown);
    }
    const json = JSON.parse((await terminal.run(["task", "get", id, "-o", "json", ...at("rich")])).stdout);
    expect(json.artifacts).toHaveLength(4);
    const none = JSON.parse(
      (await terminal.run(["task", "get", id, "--history", "0", "-o", "json", ...at("rich")])).stdout,
    );
    expect(none.history ?? []).toEqual([]);
  });
});

describe("task cancel", () => {
  it("A2ACLI_TASK_CANCEL_001 cancels, also repeatedly, and prints the state", async () => {
    const id = await made("x", "--async", ...at("slow"));
    for (let times = 0; times < 2; times++) {
      const { code, stdout } = await terminal.run(["task", "cancel", id, ...at("slow")]);
      expect(code).toBe(0);
      expect(fieldsOf(stdout)).toMatchObject({ Task: id, State: "TASK_STATE_CANCELED" });
    }
    const finished = await made("x", ...at("echo"));
    const refused = await terminal.run(["task", "cancel", finished, "-o", "json", ...at("echo")]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout).error.code).toBe("TaskNotCancelableError");
  });
});

describe("task list", () => {
  it("A2ACLI_TASK_LIST_001 lists page by page, filtered by state and by context", async () => {
    const first = fieldsOf((await terminal.run(["send", "book", ...at("booking")])).stdout);
    const context = first["Context"] ?? "";
    const again = async () =>
      fieldsOf((await terminal.run(["send", "book", "--context-id", context, ...at("booking")])).stdout);
    const cancel = ({ Task: id = "" }: Record<string, string>) =>
      terminal.run(["task", "cancel", id, ...at("booking")]);
    // Cancels each task before the next send, which would otherwise answer its question.
    await cancel(first);
    const second = await again();
    await cancel(second);
    await again();
    const list = async (...words: string[]) =>
      JSON.parse(
        (await terminal.run(["task", "list", "--context-id", context, "-o", "json", ...words, ...at("booking")]))
          .stdout,
      );
    const page = await list("--page-size", "2");
    expect(page).toMatchObject({ pageSize: 2, totalSize: 3, tasks: [{ contextId: context }, { contextId: context }] });
    const rest = await list("--page-size", "2", "--page-token", page.nextPageToken);
    expect(rest.tasks).toHaveLength(1);
    expect(rest.nextPageToken).toBe("");
    for (const state of ["canceled", "TASK_STATE_CANCELED"]) {
      expect((await list("--status", state)).tasks).toMatchObject([{ id: second["Task"] }, { id: first["Task"] }]);
    }
    expect((await list("--status", "completed")).tasks).toEqual([]);
    expect((await list("--page-size", "1", "--all")).tasks).toHaveLength(3);
    const lines = await terminal.run([
      "task",
      "list",
      "--context-id",
      context,
      "-o",
      "json",
      "--stream",
      ...at("booking"),
    ]);
    expect(linesOf(lines.stdout).map(({ contextId }) => contextId)).toEqual([context, context, context]);
    const text = await terminal.run(["task", "list", "--context-id", context, "--page-size", "2", ...at("booking")]);
    expect(fieldsOf(text.stdout)).toMatchObject({ Total: "3", "Next page": page.nextPageToken });
    expect(await terminal.run(["task", "list", "--status", "lost", ...at("booking")])).toMatchObject({ code: 2 });
  });
});

describe("task subscribe", () => {
  it("A2ACLI_TASK_SUBSCRIBE_001 follows a working task to its end", async () => {
    const id = await made("2", "--async", ...at("countdown"));
    const { code, stdout } = await terminal.run([
      "task",
      "subscribe",
      id,
      "--stream",
      "-o",
      "json",
      ...at("countdown"),
    ]);
    expect(code).toBe(0);
    const lines = linesOf(stdout);
    expect(lines[0]).toMatchObject({ task: { id } });
    expect(lines.at(-1)).toMatchObject({ statusUpdate: { taskId: id, status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("A2ACLI_TASK_SUBSCRIBE_001 prints the final task without --stream, also of a finished task", async () => {
    const id = await made("1", "--async", ...at("countdown"));
    for (let times = 0; times < 2; times++) {
      const { code, stdout } = await terminal.run(["task", "subscribe", id, "-o", "json", ...at("countdown")]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{}] });
    }
  });

  it("A2ACLI_TASK_SUBSCRIBE_002 resumes after a lost connection from the task snapshot", async () => {
    const artifact = (text: string) => ({
      artifactUpdate: {
        taskId: "t",
        contextId: "context-of-t",
        artifact: { artifactId: "a", parts: [{ text }] },
        append: true,
      },
    });
    const agent = await script({
      card: { capabilities: { streaming: true } },
      reply: ({ method }, count) => {
        if (method !== "SubscribeToTask") return { result: wireTask("t", "WORKING") };
        if (count === 1) return { events: [{ task: wireTask("t", "WORKING") }, artifact("one ")], cut: true };
        const artifacts = [{ artifactId: "a", parts: [{ text: "one " }, { text: "two " }] }];
        const end = {
          statusUpdate: { taskId: "t", contextId: "context-of-t", status: { state: "TASK_STATE_COMPLETED" } },
        };
        return { events: [{ task: wireTask("t", "WORKING", { artifacts }) }, artifact("three"), end] };
      },
    });
    const { code, stdout } = await terminal.run(["task", "subscribe", "t", "--stream", "-a", agent.url]);
    expect(code).toBe(0);
    expect(agent.received.filter(({ method }) => method === "SubscribeToTask")).toHaveLength(2);
    expect(fieldsOf(stdout)["State"]).toBe("TASK_STATE_COMPLETED");
    for (const word of ["one ", "two ", "three"]) expect(stdout.split(word)).toHaveLength(2);
  });
});

describe("task download", () => {
  it("A2ACLI_DOWNLOAD_001 saves files, texts and data, and nothing outside its folder", async () => {
    const id = await made("all", ...at("rich"));
    const { code, stdout, stderr } = await terminal.run(["task", "download", id, "--dir", "out/deep", ...at("rich")]);
    expect(code).toBe(0);
    const folder = join(terminal.folder, "out", "deep");
    expect(readdirSync(folder).sort()).toEqual(["figures.json", "note.txt", "report.pdf"]);
    expect(readdirSync(join(terminal.folder, "out"))).toEqual(["deep"]);
    expect(readFileSync(join(folder, "report.pdf"), "utf8")).toBe("%PDF");
    expect(JSON.parse(readFileSync(join(folder, "figures.json"), "utf8"))).toEqual({ answer: 42 });
    expect(readFileSync(join(folder, "note.txt"), "utf8")).toContain("\u001b[31mred");
    expect(stdout).toContain(`Saved: ${join(folder, "report.pdf")} (application/pdf, 4 bytes)`);
    expect(stderr).toContain("https://example.org/big.bin was not downloaded");
  });

  it("A2ACLI_DOWNLOAD_001 saves one artifact, and overwrites files only with the flag", async () => {
    const id = await made("all", ...at("rich"));
    const download = ["task", "download", id, "--artifact", "figures", "--dir", "d", ...at("rich")];
    mkdirSync(join(terminal.folder, "d"));
    writeFileSync(join(terminal.folder, "d", "figures.json"), "mine");
    const refused = await terminal.run(download);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/exists already[\s\S]*--overwrite/);
    expect(readFileSync(join(terminal.folder, "d", "figures.json"), "utf8")).toBe("mine");
    const json = JSON.parse((await terminal.run([...download, "--overwrite", "-o", "json"])).stdout);
    expect(json.files).toMatchObject([{ artifactId: expect.any(String), bytes: 19 }]);
    expect(existsSync(join(terminal.folder, "d", "note.txt"))).toBe(false);
  });
});

describe("task push-config", () => {
  it("A2ACLI_PUSH_001 creates, gets, lists and deletes webhooks", async () => {
    const kept = new Map<string, any>();
    const agent = await script({
      card: { capabilities: { pushNotifications: true } },
      reply: ({ method, params }) => {
        if (method === "CreateTaskPushNotificationConfig") {
          const config = { ...params, id: params.id ?? "c-1" };
          kept.set(config.id, config);
          return { result: config };
        }
        if (method === "ListTaskPushNotificationConfigs") return { result: { configs: [...kept.values()] } };
        if (method === "DeleteTaskPushNotificationConfig") return kept.delete(params.id) ? { result: {} } : missing;
        return kept.has(params.id) ? { result: kept.get(params.id) } : missing;
      },
    });
    const missing = { error: { code: -32001, message: "no such configuration" } };
    const push = (verb: string, ...words: string[]) =>
      terminal.run(["task", "push-config", verb, "t", ...words, "-a", agent.url]);
    const auth = ["--auth-scheme", "Bearer", "--auth-credentials", "hook-secret"];
    const created = await push("create", "--url", "https://me.example.org/hook", "--token", "tok-en", ...auth);
    expect(created.code).toBe(0);
    expect(fieldsOf(created.stdout)).toMatchObject({ Task: "t", Config: "c-1", URL: "https://me.example.org/hook" });
    expect(agent.received[0]?.params).toMatchObject({
      taskId: "t",
      token: "tok-en",
      authentication: { scheme: "Bearer", credentials: "hook-secret" },
    });
    const got = await push("get", "--config-id", "c-1", "-o", "json");
    expect(JSON.parse(got.stdout)).toMatchObject({ taskId: "t", id: "c-1", url: "https://me.example.org/hook" });
    expect(JSON.parse((await push("list", "-o", "json")).stdout).configs).toHaveLength(1);
    expect(await push("delete", "--config-id", "c-1")).toMatchObject({ code: 0 });
    expect(JSON.parse((await push("list", "-o", "json")).stdout).configs).toEqual([]);
    expect(await push("create", "--url", "nowhere")).toMatchObject({ code: 2 });
    expect(await push("delete")).toMatchObject({ code: 2 });
  });
});

describe("capabilities", () => {
  it("A2ACLI_VER_003 looks up a capability in the card before it sends a request that needs it", async () => {
    const agent = await script({ reply: () => ({ result: { task: wireTask("t", "COMPLETED") } }) });
    const push = await terminal.run(["task", "push-config", "list", "t", "-o", "json", "-a", agent.url]);
    expect(push.code).toBe(1);
    expect(JSON.parse(push.stdout).error).toMatchObject({
      code: "PushNotificationNotSupportedError",
      hint: expect.any(String),
    });
    const extended = await terminal.run(["card", "get", "--extended", "-o", "json", "-a", agent.url]);
    expect(JSON.parse(extended.stdout).error.code).toBe("ExtendedAgentCardNotConfiguredError");
    expect(agent.received).toEqual([]);
    await terminal.run(["send", "x", "--stream", "-a", agent.url]);
    await terminal.run(["task", "subscribe", "t", "--poll-interval", "20ms", "--timeout", "1s", "-a", agent.url]);
    expect(agent.received.map(({ method }) => method)).not.toContain("SendStreamingMessage");
    expect(agent.received.map(({ method }) => method)).not.toContain("SubscribeToTask");
  });
});
