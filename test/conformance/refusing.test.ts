import { describe, expect, it } from "vitest";
import { type CallerOptions, type Outcome, type Rules, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { rest1_0 } from "./dialect-clients/v1-0-rest.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect, type Setting } from "./every-dialect.ts";
import type { Fields } from "./neutral.ts";
import type { RefusalName } from "./refusals.ts";
import { asList, asObject } from "./strict.ts";

type Provoke = (setting: Setting, callerOptions: CallerOptions) => Promise<Outcome<unknown>>;

/** An error, or a function that returns the dialect's error; `undefined` if nothing can provoke it there. */
type Expected = RefusalName | ((rules: Rules) => RefusalName | undefined);

/** The error for an unknown task, in dialects whose callers never choose task ids. */
const unnamed: Expected = ({ namesTasks }) => (namesTasks === "never" ? "TaskNotFound" : undefined);
const unmanaged: Expected = ({ managesPush }) => (managesPush ? "PushNotificationNotSupported" : undefined);

/** How to provoke every error of every operation. The clients check format, code and HTTP status. */
const PROVOCATIONS: ReadonlyArray<readonly [Expected, string, Provoke]> = [
  ["TaskNotFound", "get", ({ caller }, callerOptions) => caller("echo", callerOptions).get("nothing")],
  ["TaskNotFound", "cancel", ({ caller }, callerOptions) => caller("echo", callerOptions).cancel("nothing")],
  ["TaskNotFound", "subscribe", ({ caller }, callerOptions) => caller("echo", callerOptions).subscribe("nothing")],
  [
    unnamed,
    "send",
    ({ caller }, callerOptions) => caller("echo", callerOptions).send({ ...text("hi"), taskId: "nothing" }),
  ],
  [
    unnamed,
    "stream",
    ({ caller }, callerOptions) => caller("echo", callerOptions).stream({ ...text("hi"), taskId: "nothing" }),
  ],
  [
    "TaskNotCancelable",
    "cancel",
    async ({ caller }, callerOptions) => {
      const { id } = await taskOf(caller("echo").send(text("done"), { wait: true }));
      return caller("echo", callerOptions).cancel(id);
    },
  ],
  [
    "PushNotificationNotSupported",
    "push create",
    ({ caller }, callerOptions) => caller("mute", callerOptions).pushCreate("nothing", "https://example.org/hook"),
  ],
  [
    "PushNotificationNotSupported",
    "push get",
    ({ caller }, callerOptions) => caller("mute", callerOptions).pushGet("nothing", "c"),
  ],
  [unmanaged, "push list", ({ caller }, callerOptions) => caller("mute", callerOptions).pushList("nothing")],
  [unmanaged, "push delete", ({ caller }, callerOptions) => caller("mute", callerOptions).pushDelete("nothing", "c")],
  [
    "PushNotificationNotSupported",
    "send",
    ({ caller }, callerOptions) => caller("mute", callerOptions).send(text("hi"), { push: "https://example.org/hook" }),
  ],
  [
    "PushNotificationNotSupported",
    "stream",
    ({ caller }, callerOptions) =>
      caller("mute", callerOptions).stream(text("hi"), { push: "https://example.org/hook" }),
  ],
  [
    ({ undeclaredStreaming }) => undeclaredStreaming,
    "stream",
    ({ caller }, callerOptions) => caller("quiet", callerOptions).stream(text("hi")),
  ],
  [
    ({ finishedSend }) => finishedSend,
    "send to a finished task",
    async ({ caller }, callerOptions) => {
      const { id } = await taskOf(caller("echo").send(text("done"), { wait: true }));
      return caller("echo", callerOptions).send({ ...text("more"), taskId: id });
    },
  ],
  [
    "ContentTypeNotSupported",
    "send",
    ({ caller }, callerOptions) => caller("picky", callerOptions).send({ parts: [{ data: {} }] }),
  ],
  ["InvalidParams", "get", ({ caller }, callerOptions) => caller("echo", callerOptions).get("nothing", -1)],
  ["InvalidParams", "send", ({ caller }, callerOptions) => caller("echo", callerOptions).send({ parts: [] })],
  [
    "InvalidParams",
    "subscribe",
    ({ caller }, callerOptions) =>
      caller("echo", { ...callerOptions, headers: { "last-event-id": "x" } }).subscribe("nothing"),
  ],
  [
    ({ undeclaredExtendedCard: none }) => (none === undefined ? undefined : "Unauthenticated"),
    "extended card",
    ({ caller }, callerOptions) => caller("discreet", callerOptions).extendedCard(),
  ],
];

function provocationsOf(rules: Rules): ReadonlyArray<readonly [RefusalName, string, Provoke]> {
  return PROVOCATIONS.flatMap(([expected, operation, provoke]) => {
    const name = typeof expected === "string" ? expected : expected(rules);
    return name === undefined ? [] : [[name, operation, provoke] as const];
  });
}

type WrongField = readonly [field: string, alter: (body: Fields) => Fields];

/** The fields of a request in 0.1, and since 0.2. */
const OLDER_FIELDS: readonly WrongField[] = [
  ["id", ({ id: _gone, ...rest }) => rest],
  ["id", (body) => ({ ...body, id: 7 })],
  ["id", (body) => ({ ...body, id: "" })],
  ["sessionId", (body) => ({ ...body, sessionId: {} })],
  ["historyLength", (body) => ({ ...body, historyLength: -1 })],
  ["acceptedOutputModes", (body) => ({ ...body, acceptedOutputModes: "text" })],
];
const NEWER_FIELDS: readonly WrongField[] = [
  [
    "message.messageId",
    (body) => {
      const { messageId: _gone, ...message } = asObject(body["message"], "message");
      return { ...body, message };
    },
  ],
  ["configuration.historyLength", (body) => ({ ...body, configuration: { historyLength: -1 } })],
];
const NEWER_TYPES: readonly WrongField[] = [
  ["message.messageId", (body) => ({ ...body, message: { ...asObject(body["message"], "message"), messageId: 7 } })],
  ["configuration", (body) => ({ ...body, configuration: 1 })],
  ["configuration.acceptedOutputModes", (body) => ({ ...body, configuration: { acceptedOutputModes: "text" } })],
];

inEveryDialect(DIALECT_CLIENTS, (setting) => {
  const { dialectClient, caller } = setting;
  const { rules } = dialectClient;

  it.each(provocationsOf(rules))("reports %s in the form of the version: %s", async (name, _operation, provoke) => {
    expect(await refusalOf(provoke(setting, {}))).toBe(name);
  });

  it("reports a missing required extension, and an undeclared extended card, in the form of the version", async () => {
    expect(await refusalOf(caller("needy").get("nothing"))).toBe(rules.requiredExtension);
    if (rules.undeclaredExtendedCard === undefined) return;
    expect(await refusalOf(caller("echo", { token: "a" }).extendedCard())).toBe(rules.undeclaredExtendedCard);
  });

  it("names the missing task in the error", async () => {
    const { facts, message } = await refused(caller("echo").get("nothing"));
    if (rules.errorsAreText) expect(message).toBe("TaskNotFoundError: Task not found");
    else expect(facts).toMatchObject({ taskId: "nothing" });
  });

  describe("names the invalid field", () => {
    const parts =
      dialectClient.dialect === "0.3/rest-proto" || dialectClient.dialect === "0.3/grpc" ? "content" : "parts";
    const [older, newer] = dialectClient.version === "0.1" ? [OLDER_FIELDS, []] : [[], NEWER_FIELDS];
    const message = (change: (message: Fields) => Fields) => (body: Fields) => ({
      ...body,
      message: change(body["message"] as Fields),
    });
    const extended = (part: unknown) => (rest: Fields) => ({
      ...rest,
      [parts]: [...asList(rest[parts], parts), part],
    });
    // Messages of protobuf cannot carry values of other types than those of their fields.
    const wrongTypes: readonly WrongField[] =
      dialectClient.binding === "grpc"
        ? []
        : [
            ...(dialectClient.version === "0.1" ? [] : NEWER_TYPES),
            ["message", (body) => ({ ...body, message: "hi" })],
            [`message.${parts}`, message((rest) => ({ ...rest, [parts]: "abc" }))],
            [`message.${parts}[1]`, message(extended(null))],
            ["message.metadata", message((rest) => ({ ...rest, metadata: [] }))],
            ["metadata", (body) => ({ ...body, metadata: "x" })],
          ];
    it.each<WrongField>([
      ...newer,
      ...older,
      ...wrongTypes,
      ["message", ({ message: _gone, ...rest }) => rest],
      ["message.role", message((rest) => ({ ...rest, role: "ROLE_BOSS" }))],
      [`message.${parts}`, message((rest) => ({ ...rest, [parts]: [] }))],
      [`message.${parts}[1]`, message(extended({}))],
    ])("%s", async (field, alter) => {
      const refusal = await refused(caller("echo", { alter }).send(text("hi"), { wait: true }));
      expect(refusal).toMatchObject({ name: "InvalidParams", fields: [field] });
      expect(refusal.message).toContain(field);
    });
  });
});

/** The first edition of 1.0 has other HTTP statuses for some errors; a server option selects them. */
inEveryDialect(
  [rest1_0],
  (setting) => {
    it.each(provocationsOf(rest1_0.rules))(
      "reports %s with the HTTP status of edition 1.0.0: %s",
      async (name, _operation, provoke) => {
        expect(await refusalOf(provoke(setting, { edition: "1.0.0" }))).toBe(name);
      },
    );
  },
  { errorProfile: "1.0.0" },
);
