import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { openSession, rawCall, SERVICE_1_0 } from "../grpc/call.ts";
import { EMPTY_MESSAGE } from "../grpc/protobuf.ts";
import { checkCard } from "./card-shapes.ts";
import { accepted, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { kindsOf, statesOf, streamedText } from "./fold.ts";
import { createGate } from "./gate.ts";
import { exchange, jsonOf, typeOf } from "./http.ts";
import { isTerminal, outputOf, type Task, textOf } from "./neutral.ts";
import { REFUSALS } from "./refusals.ts";
import { NEEDED, OFFERED } from "./test-server.ts";

/** The requirements for a server of 1.0, by number; `musts.test.ts` checks that none is missing. */
inEveryDialect(DIALECT_CLIENTS_1_0, ({ dialectClient, caller, textToRun, url }) => {
  const card = async (headers = {}) =>
    exchange({
      method: "GET",
      url: `${url()}/.well-known/agent-card.json`,
      headers: { "a2a-version": "1.0", ...headers },
    });
  const done = () => text(textToRun(async () => "done"));
  const asking = () => text(textToRun(async (task) => `You chose ${await task.ask("Which?")}`));
  const firstTask = (frames: readonly { readonly kind: string }[]): string => {
    const [first] = frames as readonly { readonly kind: string; readonly task?: { readonly id: string } }[];
    return first?.task?.id ?? "";
  };

  describe("discovery", () => {
    it("1.0 MUST 1: the well-known resource is an agent card and nothing else", async () => {
      const answer = await card();
      expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
      checkCard("1.0", JSON.parse(answer.text));
    });

    it("1.0 MUST 2: a card has all required fields, and required lists are not empty", async () => {
      const { skills, supportedInterfaces, defaultInputModes, defaultOutputModes, ...rest } = JSON.parse(
        (await card()).text,
      );
      for (const list of [skills, supportedInterfaces, defaultInputModes, defaultOutputModes, skills[0].tags]) {
        expect(list.length).toBeGreaterThan(0);
      }
      for (const name of ["name", "description", "version"]) expect(rest[name]).toMatch(/./);
    });

    it("1.0 MUST 3: every binding is declared with its address and version", async () => {
      type Interface = Record<"url" | "protocolBinding" | "protocolVersion", string>;
      const { supportedInterfaces } = jsonOf<{ supportedInterfaces: Interface[] }>(await card());
      const binding = dialectClient.binding === "rest" ? "HTTP+JSON" : "JSONRPC";
      const own = supportedInterfaces.filter(
        ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion === "1.0",
      );
      expect(own).toHaveLength(1);
      const declared = dialectClient.at(own[0]?.url.replace(/\/$/, "") ?? "");
      expect((await taskOf(declared.send(done()))).status.state).toBe("completed");
    });
  });

  describe("versions and parameters", () => {
    it("1.0 MUST 6: A2A-Version is read from header or query, by major and minor number only", async () => {
      for (const version of ["1.0", "1.0.0", "1.0.17"]) {
        expect((await taskOf(caller(undefined, { version }).send(done()))).status.state).toBe("completed");
      }
      const call = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } };
      const request =
        dialectClient.binding === "rest" ? { method: "GET" } : { method: "POST", body: JSON.stringify(call) };
      const ask = async (version: string) => {
        const target = `${url()}/${dialectClient.binding === "rest" ? "tasks/x" : ""}?A2A-Version=${version}`;
        return (await exchange({ ...request, url: target, headers: { "content-type": "application/json" } })).text;
      };
      expect(await ask("1.0.3")).toContain("TASK_NOT_FOUND");
      expect(await ask("4.2")).toContain("VERSION_NOT_SUPPORTED");
    });

    it("1.0 MUST 7: an absent or empty A2A-Version means 0.3", async () => {
      const none = await exchange({ method: "GET", url: `${url()}/v1/tasks/x`, headers: {} });
      const empty = await exchange({ method: "GET", url: `${url()}/v1/tasks/x`, headers: { "a2a-version": "" } });
      for (const answer of [none, empty]) expect(JSON.parse(answer.text)).toMatchObject({ code: -32001 });
      // The member names of 1.0 identify the version, and many 1.0 clients send no version.
      expect((await taskOf(caller(undefined, { version: null }).send(done()))).status.state).toBe("completed");
    });

    it("1.0 MUST 8: an unsupported version is refused with VersionNotSupported", async () => {
      for (const version of ["0.5", "2.0", "99.0", "one"]) {
        const refusal = await refused(caller(undefined, { version }).send(done()));
        expect(refusal).toMatchObject({
          name: "VersionNotSupported",
          facts: { supportedVersions: expect.stringMatching(/^1\.0,0\.3\b/) },
        });
      }
    });

    it("1.0 MUST 9: a request is processed with the semantics of its version", async () => {
      const { id } = await taskOf(caller().send(asking(), { wait: true }));
      expect((await accepted(caller().cancel(id))).status.state).toBe("canceled");
      // Canceling again is an error in 0.3 but not in 1.0, and so is a history length of zero.
      expect((await accepted(caller().cancel(id))).status.state).toBe("canceled");
      expect("history" in (await accepted(caller().get(id, 0)))).toBe(false);
      const old = await exchange({ method: "POST", url: `${url()}/v1/tasks/${id}:cancel`, headers: {} });
      expect(JSON.parse(old.text)).toMatchObject({ code: -32002 });
    });

    it("1.0 MUST 10: service parameters are headers with case-insensitive names", async () => {
      const headers = { "A2A-VERSION": "1.0", "a2a-EXTENSIONS": OFFERED };
      const outcome = await caller(undefined, { version: null, headers }).send(done());
      expect(outcome.http.headers.get("A2A-Extensions")).toBe(OFFERED);
    });

    it("1.0 MUST 11: there is no fallback to another version of an extension", async () => {
      const offered = await caller(undefined, { extensions: [OFFERED.replace("v1", "v9")] }).send(done());
      expect([offered.ok, offered.http.headers.get("A2A-Extensions")]).toEqual([true, null]);
      const needed = caller("needy", { extensions: [NEEDED.replace("v2", "v1")] });
      expect(await refusalOf(needed.send(text("hi")))).toBe("ExtensionSupportRequired");
    });

    it("1.0 MUST 12: a required extension the client does not declare is an error", async () => {
      const { name, facts } = await refused(caller("needy").send(text("hi")));
      expect([name, facts]).toEqual(["ExtensionSupportRequired", { requiredExtensions: NEEDED }]);
    });
  });

  describe("send", () => {
    it("1.0 MUST 13: the response is a task or a message", async () => {
      expect((await accepted(caller().send(done()))).kind).toBe("task");
      expect((await accepted(caller("replier").send(text("hi")))).kind).toBe("message");
    });

    it("1.0 MUST 14: by default a send waits until the task ends or is interrupted, and returns its full content", async () => {
      const { status, artifacts } = await taskOf(
        caller().send(
          text(
            textToRun(async function* () {
              yield "one ";
              yield "two";
            }),
          ),
        ),
      );
      expect([status.state, artifacts?.map(({ parts }) => textOf(parts))]).toEqual(["completed", ["one two"]]);
      expect((await taskOf(caller().send(asking()))).status).toMatchObject({
        state: "input-required",
        message: { role: "agent" },
      });
    });

    it("1.0 MUST 15: a send with returnImmediately returns once the task exists", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => gate.passed(task.signal));
      const { id, status } = await taskOf(caller().send(text(opening), { wait: false }));
      expect(isTerminal(status.state)).toBe(false);
      gate.open();
      await accepted(caller().get(id));
    });

    it("1.0 MUST 16: the server creates a unique id for each task and returns it", async () => {
      const messageInput = { ...text("hi"), messageId: "the same for both" };
      const [one, other] = [
        await taskOf(caller("echo").send(messageInput)),
        await taskOf(caller("echo").send(messageInput)),
      ];
      expect(one.id).toMatch(/./);
      expect(other.id).not.toBe(one.id);
    });

    it("1.0 MUST 17: an unknown taskId is TaskNotFound", async () => {
      expect(await refusalOf(caller().send({ ...done(), taskId: "no-such-task" }))).toBe("TaskNotFound");
    });

    it("1.0 MUST 18: a message to a finished task is UnsupportedOperation", async () => {
      const { id } = await taskOf(caller().send(done()));
      expect(await refusalOf(caller().send({ ...done(), taskId: id }))).toBe("UnsupportedOperation");
    });

    it("1.0 MUST 19: the context is inferred from the task", async () => {
      const { id, contextId } = await taskOf(caller().send(asking()));
      expect(await taskOf(caller().send({ ...text("tea"), taskId: id }))).toMatchObject({ id, contextId });
    });

    it("1.0 MUST 20: a context that is not the task's is rejected", async () => {
      const { id } = await taskOf(caller().send(asking()));
      const elsewhere = { ...text("tea"), taskId: id, contextId: "elsewhere" };
      expect(await refused(caller().send(elsewhere))).toMatchObject({ name: "InvalidParams" });
    });

    it("1.0 MUST 21: a context id created by the server is returned", async () => {
      const [one, other] = [await taskOf(caller().send(done())), await taskOf(caller().send(done()))];
      expect(one.contextId).toMatch(/./);
      expect(other.contextId).not.toBe(one.contextId);
      expect(await accepted(caller("replier").send(text("hi")))).toMatchObject({
        message: { contextId: expect.any(String) },
      });
    });

    it("1.0 MUST 22: a context id from the client is used or refused, never replaced", async () => {
      expect((await taskOf(caller().send({ ...done(), contextId: "mine" }))).contextId).toBe("mine");
      const unusable = { ...done(), contextId: "x".repeat(100_000) };
      expect(await refusalOf(caller().send(unusable))).toBe("InvalidParams");
    });

    it("1.0 MUST 23: a media type that the agent does not support is ContentTypeNotSupported", async () => {
      const parts = [{ raw: "aGk=", mediaType: "application/pdf" }];
      expect(await refusalOf(caller("picky").send({ parts }))).toBe("ContentTypeNotSupported");
    });
  });

  describe("stream", () => {
    it("1.0 MUST 24: a stream of a message is exactly that message", async () => {
      const stream = await accepted(caller("replier").stream(text("hi")));
      expect(kindsOf(await stream.rest())).toEqual(["message"]);
    });

    it("1.0 MUST 25: a stream of a task begins with the task", async () => {
      const [first, ...rest] = kindsOf(await (await accepted(caller().stream(done()))).rest());
      expect([first, rest.includes("task")]).toEqual(["task", false]);
    });

    it("1.0 MUST 26: a stream closes when the task is finished", async () => {
      const frames = await (await accepted(caller().stream(done()))).rest();
      expect(statesOf(frames).at(-1)).toBe("completed");
      expect(frames.at(-1)?.kind).toBe("status");
    });

    it("1.0 MUST 27: events are sent in the order in which they were created", async () => {
      const words = Array.from({ length: 50 }, (_, index) => `${index} `);
      const opening = textToRun(async function* () {
        yield* words;
      });
      const frames = await (await accepted(caller().stream(text(opening)))).rest();
      expect(streamedText(frames)).toBe(words.join(""));
      expect(frames.map((frame) => Number(frame.id))).toEqual(frames.map((_, index) => index));
    });

    it("1.0 MUST 28: every stream of a task gets the same events in the same order", async () => {
      const gate = createGate();
      const opening = textToRun(async function* (task) {
        await gate.passed(task.signal);
        yield* ["a", "b", "c"];
      });
      const sent = await accepted(caller().stream(text(opening)));
      const begun = await sent.until((frame) => frame.kind === "status");
      const id = firstTask(begun);
      const others = await Promise.all([accepted(caller().subscribe(id)), accepted(caller().subscribe(id))]);
      await Promise.all(others.map((other) => other.next()));
      gate.open();
      const [one, ...rest] = await Promise.all([sent, ...others].map((stream) => stream.rest()));
      expect(one?.length).toBeGreaterThan(3);
      for (const other of rest) expect(other).toEqual(one);
    });

    it("1.0 MUST 29: closing one stream affects neither other streams nor the task", async () => {
      const gate = createGate();
      const opening = textToRun(async function* (task) {
        await gate.passed(task.signal);
        yield "through";
      });
      const sent = await accepted(caller().stream(text(opening)));
      const id = firstTask(await sent.until((frame) => frame.kind === "status"));
      const other = await accepted(caller().subscribe(id));
      await sent.close();
      gate.open();
      expect(streamedText(await other.rest())).toBe("through");
      expect((await accepted(caller().get(id))).status.state).toBe("completed");
    });

    it("1.0 MUST 30: progress is sent while the task works", async () => {
      const gate = createGate();
      const opening = textToRun(async (task) => {
        await task.status("Halfway");
        await gate.passed(task.signal);
      });
      const stream = await accepted(caller().stream(text(opening)));
      // The agent continues only after this frame has arrived.
      const frames = await stream.until((frame) => frame.kind === "status" && frame.status.message !== undefined);
      expect(frames.at(-1)).toMatchObject({ status: { state: "working", message: { parts: [{ text: "Halfway" }] } } });
      gate.open();
      await stream.rest();
    });

    it("1.0 MUST 31: an agent that does not declare streaming answers UnsupportedOperation", async () => {
      expect(await refusalOf(caller("quiet").stream(text("hi")))).toBe("UnsupportedOperation");
      expect(await refusalOf(caller("quiet").subscribe("whatever"))).toBe("UnsupportedOperation");
    });
  });

  describe("subscribe", () => {
    it("1.0 MUST 32: the first event is the current task", async () => {
      const { id } = await taskOf(caller().send(asking()));
      const now = await accepted(caller().get(id));
      const stream = await accepted(caller().subscribe(id));
      expect(await stream.next()).toMatchObject({ kind: "task", task: { status: now.status, history: now.history } });
      await stream.close();
    });

    it("1.0 MUST 33: a subscription ends when the task ends, not when it asks a question", async () => {
      const { id } = await taskOf(caller().send(asking()));
      const stream = await accepted(caller().subscribe(id));
      await stream.next();
      await taskOf(caller().send({ ...text("tea"), taskId: id }));
      expect(statesOf(await stream.rest()).at(-1)).toBe("completed");
    });

    it("1.0 MUST 34: subscribing to a finished task is UnsupportedOperation", async () => {
      const { id } = await taskOf(caller().send(done()));
      expect(await refusalOf(caller().subscribe(id))).toBe("UnsupportedOperation");
    });

    it("1.0 MUST 35: subscribing to a task that is unknown or not accessible is TaskNotFound", async () => {
      const { id } = await taskOf(caller().send(asking()));
      expect(await refusalOf(caller().subscribe("no-such-task"))).toBe("TaskNotFound");
      expect(await refusalOf(caller(undefined, { token: "mallory" }).subscribe(id))).toBe("TaskNotFound");
    });
  });

  describe("get, list, cancel", () => {
    it("1.0 MUST 36: a task that is absent or not accessible is TaskNotFound, and both look the same", async () => {
      const { id } = await taskOf(caller().send(done()));
      const [absent, hidden] = [
        await refused(caller(undefined, { token: "mallory" }).get("no-such-task")),
        await refused(caller(undefined, { token: "mallory" }).get(id)),
      ];
      expect(hidden).toEqual({ ...absent, facts: { taskId: id } });
    });

    it("1.0 MUST 37: the history never has more messages than historyLength", async () => {
      const { id } = await taskOf(caller().send(asking()));
      await taskOf(caller().send({ ...text("tea"), taskId: id }));
      for (const length of [0, 1, 2]) {
        expect((await accepted(caller().get(id, length))).history?.length ?? 0).toBe(length);
        const { tasks } = await accepted(caller().list({ history: length }));
        for (const task of tasks) expect(task.history?.length ?? 0).toBeLessThanOrEqual(length);
      }
      const sent = await taskOf(caller().send(done(), { history: 0 }));
      expect("history" in sent).toBe(false);
    });

    it("1.0 MUST 38: a list has only tasks that the caller may access", async () => {
      const [mine, hers] = ["must38a", "must38b"].map((token) => caller("echo", { token }));
      if (mine === undefined || hers === undefined) throw new Error("There are two callers.");
      const [one, other] = [await taskOf(mine.send(text("mine"))), await taskOf(hers.send(text("hers")))];
      expect((await accepted(mine.list())).tasks.map(({ id }) => id)).toEqual([one.id]);
      expect(await accepted(hers.list())).toMatchObject({ tasks: [{ id: other.id }], totalSize: 1 });
    });

    it("1.0 MUST 39: pages use a cursor, so no task is repeated or skipped", async () => {
      const mine = caller("echo", { token: "must39" });
      for (const words of ["1", "2", "3"]) await taskOf(mine.send(text(words)));
      const first = await accepted(mine.list({ pageSize: 2 }));
      await taskOf(mine.send(text("4")));
      const second = await accepted(mine.list({ pageSize: 2, pageToken: first.nextPageToken ?? "" }));
      const seen = [...first.tasks, ...second.tasks].map(({ history }) => textOf(history?.[0]?.parts));
      expect(seen).toEqual(["3", "2", "1"]);
    });

    it("1.0 MUST 40: the newest status comes first", async () => {
      const mine = caller(undefined, { token: "must40" });
      const older = await taskOf(mine.send(asking()));
      const newer = await taskOf(mine.send(asking()));
      const ids = async () => (await accepted(mine.list())).tasks.map(({ id }) => id);
      expect(await ids()).toEqual([newer.id, older.id]);
      await taskOf(mine.send({ ...text("tea"), taskId: older.id }));
      expect(await ids()).toEqual([older.id, newer.id]);
    });

    it("1.0 MUST 41: nextPageToken is always present, and empty on the last page", async () => {
      const mine = caller("echo", { token: "must41" });
      expect(await accepted(mine.list())).toMatchObject({ tasks: [], nextPageToken: "" });
      for (const words of ["1", "2"]) await taskOf(mine.send(text(words)));
      const { nextPageToken } = await accepted(mine.list({ pageSize: 1 }));
      expect(nextPageToken).toMatch(/./);
      const last = await accepted(mine.list({ pageSize: 1, pageToken: nextPageToken ?? "" }));
      expect(last).toMatchObject({ nextPageToken: "" });
    });

    it("1.0 MUST 42: listed tasks have no artifacts member unless it is requested", async () => {
      const mine = caller("echo", { token: "must42" });
      await taskOf(mine.send(text("hi")));
      const listed = async (query: object) => (await accepted(mine.list(query))).tasks[0] ?? {};
      expect("artifacts" in (await listed({}))).toBe(false);
      expect("artifacts" in (await listed({ artifacts: true }))).toBe(true);
    });

    it("1.0 MUST 43: a task that cannot be canceled is TaskNotCancelable", async () => {
      const { id } = await taskOf(caller().send(done()));
      expect(await refusalOf(caller().cancel(id))).toBe("TaskNotCancelable");
    });
  });

  describe("extended card", () => {
    it("1.0 MUST 53: an extended card that is not declared is UnsupportedOperation", async () => {
      expect(await refusalOf(caller("echo", { token: "alice" }).extendedCard())).toBe("UnsupportedOperation");
    });

    it("1.0 MUST 54: an extended card that is declared but missing is ExtendedAgentCardNotConfigured", async () => {
      expect(await refusalOf(caller("tactful", { token: "alice" }).extendedCard())).toBe("ExtendedCardNotConfigured");
    });
  });

  describe("errors", () => {
    it("1.0 MUST 56: an error has a code, a message and details with a type", async () => {
      const { http } = await caller().get("no-such-task");
      const { error } = jsonOf<{ error: Record<"code" | "message" | "details" | "data", unknown> }>(http);
      expect([typeof error.code, error.message]).toEqual(["number", expect.stringMatching(/./)]);
      const details = dialectClient.binding === "jsonrpc" ? error.data : error.details;
      expect(details).toEqual([expect.objectContaining({ "@type": expect.stringMatching(/./) })]);
    });

    it("1.0 MUST 57: each error has the code and status of its binding", async () => {
      const { id } = await taskOf(caller().send(done()));
      for (const [name, outcome] of [
        ["TaskNotFound", await caller().get("no-such-task")],
        ["TaskNotCancelable", await caller().cancel(id)],
        ["UnsupportedOperation", await caller().subscribe(id)],
        ["InvalidParams", await caller().get(id, -1)],
      ] as const) {
        const { error } = JSON.parse(outcome.http.text);
        const { code, http, status } = REFUSALS[name];
        const expected =
          // The client shows an error of gRPC as REST would, after it has compared the status.
          dialectClient.binding === "jsonrpc"
            ? [200, code, undefined]
            : [http["1.0.1"], http["1.0.1"], status["1.0.1"]];
        expect([outcome.http.status, error.code, error.status]).toEqual(expected);
      }
    });

    it("1.0 MUST 58: an error of the protocol has an ErrorInfo with reason and domain", async () => {
      const { http } = await caller().get("no-such-task");
      expect(http.text).toContain('"@type":"type.googleapis.com/google.rpc.ErrorInfo"');
      expect(http.text).toContain('"reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"');
    });

    it("1.0 MUST 59: every input is validated before any work", async () => {
      let runs = 0;
      const opening = textToRun(async () => {
        runs += 1;
      });
      const mine = { token: "must59" };
      for (const wrong of [
        { configuration: { historyLength: -1 } },
        { message: { role: "ROLE_USER", parts: [{ text: opening }] } },
        // Messages of protobuf cannot carry values of other types.
        ...(dialectClient.binding === "grpc"
          ? []
          : [{ configuration: { acceptedOutputModes: [7] } }, { metadata: "x" }]),
      ]) {
        const alter = (body: object) => ({ ...body, ...wrong });
        expect(await refusalOf(caller(undefined, { ...mine, alter }).send(text(opening)))).toBe("InvalidParams");
      }
      expect(runs).toBe(0);
      expect((await accepted(caller(undefined, mine).list())).totalSize).toBe(0);
    });
  });

  describe("data", () => {
    /** Visits every member name and every scalar of a response, except in the caller's free-form objects. */
    const walk = (value: unknown, visit: (name: string, content: unknown) => void): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [name, content] of Object.entries(value)) {
        if (!Array.isArray(value)) visit(name, content);
        if (name !== "metadata" && name !== "data") walk(content, visit);
      }
    };
    const everything = async () => {
      const { http, ...sent } = await caller().send(asking());
      const { id } = await taskOf({ http, ...sent });
      const stream = await accepted(caller().stream({ ...text("tea"), taskId: id }));
      const frames = await stream.rest();
      const listed = await caller().list({ artifacts: true, pageSize: 2 });
      const got = await caller().get(id);
      return { raw: [http, listed.http, got.http].map(({ text: body }) => JSON.parse(body)), frames };
    };

    it("1.0 MUST 62: names are in camel case", async () => {
      const { raw } = await everything();
      for (const body of raw) walk(body, (name) => expect(name).toMatch(/^[a-z][a-zA-Z]*$/));
    });

    it("1.0 MUST 63: enumerations are named as in the definition", async () => {
      const { raw } = await everything();
      const seen = new Set<unknown>();
      for (const body of raw)
        walk(body, (name, content) => void (["state", "role"].includes(name) && seen.add(content)));
      expect(seen.size).toBeGreaterThan(2);
      for (const value of seen) expect(value).toMatch(/^(TASK_STATE|ROLE)_[A-Z_]+$/);
    });

    it("1.0 MUST 64: timestamps are ISO 8601 in UTC, marked Z", async () => {
      const { raw } = await everything();
      const times: unknown[] = [];
      for (const body of raw) walk(body, (name, content) => void (name === "timestamp" && times.push(content)));
      expect(times.length).toBeGreaterThan(2);
      for (const time of times) {
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      }
    });

    it("1.0 MUST 65: required fields are present", async () => {
      // The client refuses responses without a required member.
      const { frames } = await everything();
      expect(kindsOf(frames)).toEqual(expect.arrayContaining(["task", "status", "artifact"]));
      const { raw } = await everything();
      expect(raw[1]?.result ?? raw[1]).toMatchObject({
        tasks: expect.any(Array),
        nextPageToken: expect.any(String),
        pageSize: 2,
        totalSize: expect.any(Number),
      });
    });

    it("1.0 MUST 66: a part has exactly one content", async () => {
      const both = [{ text: "a", url: "https://example.org" }];
      // A oneof of protobuf has one member: the last on the wire.
      if (dialectClient.binding !== "grpc")
        expect((await refused(caller("echo").send({ parts: both }))).fields).toEqual(["message.parts[0]"]);
      const none = [{ mediaType: "text/plain" }];
      expect((await refused(caller("echo").send({ parts: none }))).fields).toEqual(["message.parts[0]"]);
      // `null` is valid data.
      expect((await taskOf(caller("echo").send({ parts: [{ data: null }] }))).artifacts?.[0]?.parts).toEqual([
        { data: null },
      ]);
    });

    it("1.0 MUST 67: REST requests without a body have URL-encoded camelCase query parameters", async () => {
      const contextId = "ä&b=c d/é";
      await taskOf(caller("echo").send({ ...text("hi"), contextId }));
      const listed = await accepted(
        caller("echo").list({ contextId, pageSize: 1, history: 0, artifacts: true, state: "completed" }),
      );
      expect(listed).toMatchObject({ totalSize: 1, pageSize: 1, tasks: [{ contextId }] });
      expect(Object.keys(listed.tasks[0] ?? {})).not.toContain("history");
    });

    it("1.0 MUST 68: JSON-RPC follows 2.0, with PascalCase methods and application/json in both directions", async () => {
      const call = (body: object, type = "application/json") =>
        exchange({
          method: "POST",
          url: `${url()}/`,
          headers: { "content-type": type, "a2a-version": "1.0" },
          body: JSON.stringify(body),
        });
      const answer = await call({ jsonrpc: "2.0", id: "x-1", method: "GetTask", params: { id: "nothing" } });
      expect([answer.status, typeOf(answer)]).toEqual([200, "application/json"]);
      expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", id: "x-1", error: { code: -32001 } });
      for (const method of ["getTask", "get_task", "gettask"]) {
        const unknown = await call({ jsonrpc: "2.0", id: 1, method, params: { id: "nothing" } });
        expect(JSON.parse(unknown.text)).toMatchObject({ error: { code: -32601 } });
      }
      expect((await call({ jsonrpc: "2.0", id: 1, method: "GetTask" }, "text/plain")).status).toBe(415);
    });
  });

  it("1.0 MUST 69: all bindings have the same operations and results", async () => {
    const [one, ...others] = DIALECT_CLIENTS_1_0.filter((each) => each !== dialectClient).map((each) =>
      each.at(url(), { token: `must69 ${dialectClient.dialect}` }),
    );
    const other = dialectClient.at(url(), { token: `must69 ${dialectClient.dialect}` });
    if (one === undefined) throw new Error("There are several bindings.");
    const { id } = await taskOf(one.send(asking()));
    const less = (task: Task): Task => dialectClient.reduction?.task(task) ?? task;
    expect(await accepted(other.get(id))).toEqual(less(await accepted(one.get(id))));
    const page = await accepted(one.list({ artifacts: true }));
    expect(await accepted(other.list({ artifacts: true }))).toEqual({ ...page, tasks: page.tasks.map(less) });
    const answered = await taskOf(other.send({ ...text("tea"), taskId: id }));
    expect([outputOf(answered), await accepted(one.get(id))]).toEqual(["You chose tea", answered]);
    for (const caller of [...others, other]) {
      expect(await refused(caller.cancel(id))).toEqual(await refused(one.cancel(id)));
      expect(await refused(caller.subscribe(id))).toEqual(await refused(one.subscribe(id)));
      expect(await refused(caller.get("nothing"))).toEqual(await refused(one.get("nothing")));
      expect(await refused(caller.send({ parts: [] }))).toEqual(await refused(one.send({ parts: [] })));
      expect(await refused(caller.extendedCard())).toEqual(await refused(one.extendedCard()));
    }
  });

  it.runIf(dialectClient.binding === "grpc")(
    "1.0 MUST 70: gRPC has the service and methods of the normative definition, over HTTP/2, with streams from the server",
    async () => {
      const session = await openSession(url());
      const methodNames = [
        ...["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"],
        ...["Create", "Get", "Delete"].map((verb) => `${verb}TaskPushNotificationConfig`),
        ...["ListTaskPushNotificationConfigs", "GetExtendedAgentCard"],
      ];
      const statuses: Readonly<Record<string, number>> = { ListTasks: 0, GetExtendedAgentCard: 9 };
      for (const method of methodNames) {
        const { http, grpc } = await rawCall(session, { path: `/${SERVICE_1_0}/${method}`, body: EMPTY_MESSAGE });
        expect([method, http, grpc]).toEqual([method, 200, statuses[method] ?? 3]);
      }
      expect((await (await accepted(caller().stream(done()))).rest()).length).toBeGreaterThan(1);
      session.destroy();
    },
  );

  it("1.0 MUST 77: a file by URL is not fetched, content is forwarded unchanged, and JSON is UTF-8", async () => {
    let requests = 0;
    const trap = createServer((_request, response) => {
      requests += 1;
      response.end();
    }).listen(0, "127.0.0.1");
    await once(trap, "listening");
    const { port } = trap.address() as AddressInfo;
    const parts = [
      { url: `http://127.0.0.1:${port}/secret` },
      { url: "file:///etc/passwd" },
      { text: "<script>alert(1)</script> \u0000 größer 🌊" },
    ];
    const task = await taskOf(caller("echo").send({ parts }));
    expect(task.artifacts?.[0]?.parts).toEqual(parts);
    expect(requests).toBe(0);
    trap.close();
    const target = dialectClient.binding === "rest" ? `${url()}/message:send` : `${url()}/`;
    const bytes = Buffer.from('{"message":"\xff\xfe"}', "latin1");
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: bytes,
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("UTF-8")]);
  });
});
