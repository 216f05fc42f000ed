import { createHash } from "node:crypto";
import { type AgentCard, type Message, type Part, Role, type StreamResponse, type Task, TaskState } from "a2a-sdk-v1";
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "a2a-sdk-v1/client";
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "a2a-sdk-v1/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, until, Workbench } from "../e2e/workbench.ts";
import { RecordedFetch } from "./recorded-fetch.ts";

const bench = new Workbench();
const recorded = new RecordedFetch();
let url: string;
let echo: Client;
let countdown: Client;
let booking: Client;
let files: Client;

beforeAll(async () => {
  url = (await bench.serve(["--demo", "--store", "sqlite:demo.db"])).url;
  [echo, countdown, booking, files] = (await Promise.all(
    ["echo", "countdown", "booking", "files"].map((id) => connect(`${url}/agents/${id}/`)),
  )) as [Client, Client, Client, Client];
});
afterAll(() => bench.close());

function connect(address: string): Promise<Client> {
  const fetchImpl = recorded.fetch;
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(address);
}

let messages = 0;

interface Saying {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
}

/** A request as this client's types want it: every field, most of them empty. */
function saying(content: string | readonly Part["content"][], options: Saying = {}) {
  const { taskId = "", contextId = "", returnImmediately = false, historyLength } = options;
  const contents = typeof content === "string" ? [{ $case: "text", value: content } as const] : content;
  return {
    tenant: "",
    message: {
      messageId: `sdk-${++messages}`,
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: contents.map((each): Part => ({ content: each, metadata: undefined, filename: "", mediaType: "" })),
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately,
      ...(historyLength !== undefined && { historyLength }),
    },
    metadata: undefined,
  };
}

function taskOf(result: Task | Message): Task {
  if ("status" in result) return result;
  throw new Error("This is a message, not a task.");
}

const textsOf = (task: Task) => task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value));
const stateOf = (task: Task) => task.status?.state;
const questionOf = (task: Task) => task.status?.message?.parts.map(({ content }) => content?.value).join(" ");

async function all(stream: AsyncIterable<StreamResponse>): Promise<NonNullable<StreamResponse["payload"]>[]> {
  const payloads = [];
  for await (const { payload } of stream) if (payload !== undefined) payloads.push(payload);
  return payloads;
}

const stateIn = (payload: NonNullable<StreamResponse["payload"]> | undefined) =>
  payload?.$case === "statusUpdate" || payload?.$case === "task" ? payload.value.status?.state : undefined;

describe("the client of @a2a-js/sdk 1.x", () => {
  it("finds the agent by its card", async () => {
    const card = await echo.getAgentCard();
    expect(card.name).toBe("Echo");
    expect(echo.protocolVersion).toBe("1.0");
    expect(card.capabilities).toMatchObject({ streaming: true });
  });

  describe("sends", () => {
    it("and waits for the finished task", async () => {
      const task = taskOf(await echo.sendMessage(saying("Hello")));
      expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(textsOf(task)).toEqual(["Hello"]);
      expect(task.history.map(({ role }) => role)).toEqual([Role.ROLE_USER]);
    });

    it("and does not wait, if it says so", async () => {
      const task = taskOf(await countdown.sendMessage(saying("100", { returnImmediately: true })));
      expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(stateOf(task));
      await countdown.cancelTask({ tenant: "", id: task.id, metadata: undefined });
    });

    it("and gets a bare message", async () => {
      const answer = await echo.sendMessage(saying("message: Hello"));
      if (!("messageId" in answer)) throw new Error("This is a task, not a message.");
      expect(answer.parts[0]?.content).toEqual({ $case: "text", value: "Hello" });
      expect(answer.role).toBe(Role.ROLE_AGENT);
    });

    it("files and data, and gets them back as they were", async () => {
      const bytes = Buffer.from([0, 1, 2, 253, 254, 255]);
      const data = { nested: { list: [1, "two", null, true] } };
      const task = taskOf(
        await echo.sendMessage(
          saying([
            { $case: "raw", value: bytes },
            { $case: "data", value: data },
            { $case: "url", value: "https://example.org/x.png" },
          ]),
        ),
      );
      expect(textsOf(task)).toEqual([bytes, data, "https://example.org/x.png"]);
      const hello = Buffer.from("hello");
      const transformed = taskOf(await files.sendMessage(saying([{ $case: "raw", value: hello }])));
      const sum = createHash("sha256").update(hello).digest("hex");
      expect(textsOf(transformed).map(String)).toEqual(["HELLO", `${sum}  file-1\n`]);
    });
  });

  it("streams a task from its beginning to its end", async () => {
    const payloads = await all(countdown.sendMessageStream(saying("2")));
    expect(payloads[0]?.$case).toBe("task");
    const texts = payloads.flatMap((each) =>
      each.$case === "artifactUpdate" ? (each.value.artifact?.parts.map(({ content }) => content?.value) ?? []) : [],
    );
    expect(texts.join("")).toBe("2 1 Lift-off!");
    expect(stateIn(payloads.at(-1))).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it("streams a bare message", async () => {
    const payloads = await all(echo.sendMessageStream(saying("message: Hi")));
    expect(payloads.map(({ $case }) => $case)).toEqual(["message"]);
  });

  it("talks over several turns, each answer checked", async () => {
    const first = taskOf(await booking.sendMessage(saying("A table, please")));
    expect(stateOf(first)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const answer = async (text: string) =>
      taskOf(await booking.sendMessage(saying(text, { taskId: first.id, contextId: first.contextId })));
    expect(questionOf(await answer("many"))).toMatch(/1 to 12/);
    expect(questionOf(await answer("4"))).toMatch(/which day/);
    // A stream of one turn ends with the next question.
    const turn = await all(booking.sendMessageStream(saying("2027-05-17", { taskId: first.id })));
    expect(stateIn(turn.at(-1))).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const done = await answer("yes");
    expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textsOf(done)).toEqual([expect.objectContaining({ guests: 4, date: "2027-05-17" })]);
    expect(done.history.filter(({ role }) => role === Role.ROLE_USER)).toHaveLength(5);
  });

  it("gets a task, with as much of its history as it wants", async () => {
    const { id } = taskOf(await booking.sendMessage(saying("A table, please")));
    await booking.sendMessage(saying("2", { taskId: id }));
    const get = (historyLength?: number) =>
      booking.getTask({ tenant: "", id, ...(historyLength !== undefined && { historyLength }) });
    const whole = await get();
    expect(whole.history.length).toBeGreaterThanOrEqual(2);
    expect((await get(0)).history).toEqual([]);
    expect((await get(1)).history).toEqual(whole.history.slice(-1));
    expect((await get(1000)).history).toEqual(whole.history);
  });

  it("lists tasks page by page, by context, by state and by time", async () => {
    const contextId = taskOf(await echo.sendMessage(saying("first"))).contextId;
    const ids: string[] = [];
    for (const text of ["second", "third", "fourth"]) {
      ids.unshift(taskOf(await echo.sendMessage(saying(text, { contextId }))).id);
    }
    const query = {
      tenant: "",
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    };
    const one = await echo.listTasks({ ...query, pageSize: 3 });
    expect(one.tasks.map(({ id }) => id)).toEqual(ids);
    expect(one).toMatchObject({ totalSize: 4, pageSize: 3 });
    const two = await echo.listTasks({ ...query, pageSize: 3, pageToken: one.nextPageToken });
    expect(two).toMatchObject({ totalSize: 4, nextPageToken: "" });
    expect(two.tasks).toHaveLength(1);
    expect(one.tasks.every(({ artifacts }) => artifacts.length === 0)).toBe(true);
    const full = await echo.listTasks({ ...query, includeArtifacts: true, historyLength: 0 });
    expect(full.tasks.flatMap(textsOf)).toEqual(["fourth", "third", "second", "first"]);
    expect(full.tasks.flatMap(({ history }) => history)).toEqual([]);
    const working = await echo.listTasks({ ...query, status: TaskState.TASK_STATE_WORKING });
    expect(working).toMatchObject({ tasks: [], totalSize: 0 });
    const newest = one.tasks[0]?.status?.timestamp;
    const recent = await echo.listTasks({ ...query, statusTimestampAfter: newest });
    expect(recent.tasks.map(({ id }) => id)).toContain(ids[0]);
    await expect(echo.listTasks({ ...query, pageSize: 101 })).rejects.toThrow(RequestMalformedError);
    await expect(echo.listTasks({ ...query, pageToken: "made up" })).rejects.toThrow(RequestMalformedError);
  });

  it("cancels a task, again if it likes, but not one that is finished", async () => {
    const { id } = taskOf(await countdown.sendMessage(saying("100", { returnImmediately: true })));
    const canceled = await countdown.cancelTask({ tenant: "", id, metadata: undefined });
    expect(stateOf(canceled)).toBe(TaskState.TASK_STATE_CANCELED);
    expect(await countdown.cancelTask({ tenant: "", id, metadata: undefined })).toEqual(canceled);
    const done = taskOf(await echo.sendMessage(saying("done")));
    await expect(echo.cancelTask({ tenant: "", id: done.id, metadata: undefined })).rejects.toThrow(
      TaskNotCancelableError,
    );
  });

  it("subscribes to a running task and follows it to its end", async () => {
    const { id } = taskOf(await countdown.sendMessage(saying("2", { returnImmediately: true })));
    const payloads = await all(countdown.resubscribeTask({ tenant: "", id }));
    expect(payloads[0]).toMatchObject({ $case: "task", value: { id } });
    expect(stateIn(payloads.at(-1))).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it("subscribes to a task that waits for an answer, and sees what the answer brings", async () => {
    const { id } = taskOf(await booking.sendMessage(saying("A table, please")));
    const seen: NonNullable<StreamResponse["payload"]>[] = [];
    const reading = (async () => {
      for await (const { payload } of booking.resubscribeTask({ tenant: "", id }))
        if (payload !== undefined) seen.push(payload);
    })();
    await until(() => seen.length > 0);
    expect(stateIn(seen[0])).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    for (const text of ["2", "2027-05-17", "no"]) await booking.sendMessage(saying(text, { taskId: id }));
    await reading;
    expect(stateIn(seen.at(-1))).toBe(TaskState.TASK_STATE_REJECTED);
  });

  it("gets the extended card where there is one, and is told where there is none", async () => {
    const SETUP = JSON.stringify({ modules: [fixture("private-card.ts")], bearer: true });
    const discreet = await connect((await bench.serveScript("server.ts", { env: { SETUP } })).url);
    const shown = (card: AgentCard) => card.skills.map(({ id }) => id);
    const serviceParameters = { authorization: "Bearer caller" };
    expect(shown(await discreet.getAgentCard({ serviceParameters }))).toEqual(["public", "private"]);
    await expect(discreet.transport.getExtendedAgentCard({ tenant: "" })).rejects.toThrow(/authenticated/);
    await expect(echo.transport.getExtendedAgentCard({ tenant: "" })).rejects.toThrow(UnsupportedOperationError);
  });

  it("is told by name what cannot be", async () => {
    const done = taskOf(await echo.sendMessage(saying("done")));
    const nowhere = { tenant: "", id: "01890000-0000-7000-8000-000000000000", metadata: undefined };
    await expect(echo.getTask(nowhere)).rejects.toThrow(TaskNotFoundError);
    await expect(echo.cancelTask(nowhere)).rejects.toThrow(TaskNotFoundError);
    await expect(all(echo.resubscribeTask(nowhere))).rejects.toThrow(TaskNotFoundError);
    await expect(echo.sendMessage(saying("more", { taskId: nowhere.id }))).rejects.toThrow(TaskNotFoundError);
    // Another agent's task is no task of this one.
    await expect(countdown.getTask({ ...nowhere, id: done.id })).rejects.toThrow(TaskNotFoundError);
    await expect(echo.sendMessage(saying("more", { taskId: done.id }))).rejects.toThrow(UnsupportedOperationError);
    await expect(all(echo.resubscribeTask({ tenant: "", id: done.id }))).rejects.toThrow(UnsupportedOperationError);
    await expect(echo.sendMessage(saying([]))).rejects.toThrow(RequestMalformedError);
    const push = {
      tenant: "",
      id: "",
      taskId: done.id,
      url: "https://example.org/hook",
      token: "",
      authentication: undefined,
    };
    // Asked past the client's own look at the card.
    const { transport } = echo;
    await expect(transport.createTaskPushNotificationConfig(push)).rejects.toThrow(PushNotificationNotSupportedError);
    await expect(
      transport.listTaskPushNotificationConfig({ tenant: "", taskId: done.id, pageSize: 10, pageToken: "" }),
    ).rejects.toThrow(PushNotificationNotSupportedError);
  });

  it("was told nothing in all this that version 1.0 does not know", async () => {
    await recorded.settled();
    expect(recorded.faults).toEqual([]);
    expect([...recorded.answered.keys()].toSorted()).toEqual([
      "CancelTask",
      "GetExtendedAgentCard",
      "GetTask",
      "ListTasks",
      "SendMessage",
      "SendStreamingMessage",
      "SubscribeToTask",
    ]);
  });
});
