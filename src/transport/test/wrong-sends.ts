import type { Spelling } from "./spellings.ts";

/** Invalid parameters of a send, and the path of the wrong field. */
export type WrongSend = readonly [params: unknown, field: string];

export function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A message that is valid except for an id that nearly fills the body. */
export function hugeId({ base, parts, text }: Spelling): object {
  return { message: { ...base, [parts]: [text("x")], messageId: "x".repeat(9_900_000) } };
}

/** All invalid sends in this dialect. */
export function wrongSends(spelling: Spelling): readonly WrongSend[] {
  return [
    ...wrongMessages(spelling),
    ...wrongParts(spelling).map(([part, field]): WrongSend => {
      const { base, parts } = spelling;
      return [{ message: { ...base, [parts]: [part] } }, `message.${parts}[0]${field}`];
    }),
    ...wrongConfigurations(spelling),
  ];
}

function wrongMessages({ base, parts, text, data, at, wrongRoles }: Spelling): readonly WrongSend[] {
  const good = [text("x")];
  const message = (members: object): object => ({ message: { ...base, [parts]: good, ...members } });
  const whole = { ...base, [parts]: good };
  const tooMany = Array.from({ length: 1001 }, () => text("x"));
  return [
    [{}, "message"],
    [{ message: null }, "message"],
    [{ message: "hello" }, "message"],
    [{ message: [] }, "message"],
    [{ message: 1 }, "message"],
    [{ message: true }, "message"],
    [{ message: {} }, "message.messageId"],
    [message({ messageId: undefined }), "message.messageId"],
    [message({ messageId: null }), "message.messageId"],
    [message({ messageId: "" }), "message.messageId"],
    [message({ messageId: 7 }), "message.messageId"],
    [message({ messageId: ["m"] }), "message.messageId"],
    [message({ messageId: {} }), "message.messageId"],
    [message({ messageId: "x".repeat(300) }), "message.messageId"],
    [message({ messageId: "\ud800" }), "message.messageId"],
    [message({ messageId: "m\0" }), "message.messageId"],
    ...wrongRoles.map((role): WrongSend => [message({ role }), "message.role"]),
    [message({ [parts]: undefined }), `message.${parts}`],
    [message({ [parts]: null }), `message.${parts}`],
    [message({ [parts]: [] }), `message.${parts}`],
    [message({ [parts]: {} }), `message.${parts}`],
    [message({ [parts]: "abc" }), `message.${parts}`],
    [message({ [parts]: 1 }), `message.${parts}`],
    [message({ [parts]: { 0: text("x") } }), `message.${parts}`],
    [message({ [parts]: tooMany }), `message.${parts}`],
    [message({ [parts]: [text("x"), null] }), `message.${parts}[1]`],
    [message({ [parts]: [text("x"), {}] }), `message.${parts}[1]`],
    [message({ [parts]: [text("x"), text("y"), data(deep(100))] }), `message.${parts}[2].${at.data}`],
    [message({ taskId: 1 }), "message.taskId"],
    [message({ taskId: {} }), "message.taskId"],
    [message({ taskId: "t".repeat(257) }), "message.taskId"],
    [message({ contextId: 1 }), "message.contextId"],
    [message({ contextId: [] }), "message.contextId"],
    [message({ contextId: "c".repeat(257) }), "message.contextId"],
    [message({ contextId: "\udfff" }), "message.contextId"],
    [message({ contextId: "\0" }), "message.contextId"],
    [message({ referenceTaskIds: "t" }), "message.referenceTaskIds"],
    [message({ referenceTaskIds: [1] }), "message.referenceTaskIds[0]"],
    [message({ referenceTaskIds: ["a", null] }), "message.referenceTaskIds[1]"],
    [message({ referenceTaskIds: ["a", ""] }), "message.referenceTaskIds[1]"],
    [message({ referenceTaskIds: Array.from({ length: 257 }, () => "t") }), "message.referenceTaskIds"],
    [message({ extensions: {} }), "message.extensions"],
    [message({ extensions: [{}] }), "message.extensions[0]"],
    [message({ metadata: 1 }), "message.metadata"],
    [message({ metadata: "x" }), "message.metadata"],
    [message({ metadata: [1] }), "message.metadata"],
    [message({ metadata: { a: deep(64) } }), "message.metadata"],
    [{ message: whole, metadata: "x" }, "metadata"],
    [{ message: whole, metadata: [] }, "metadata"],
    [{ message: whole, metadata: { a: deep(65) } }, "metadata"],
  ];
}

/** Invalid parts, and the path of the wrong field within the part. */
function wrongParts(spelling: Spelling): readonly (readonly [part: unknown, field: string])[] {
  const { text, bytes, uri, data, at } = spelling;
  return [
    [null, ""],
    ["hello", ""],
    [1, ""],
    [true, ""],
    [[], ""],
    [{}, ""],
    [{ unknown: 1 }, ""],
    ...spelling.twice.map((part) => [part, ""] as const),
    [text(null), spelling.nullText],
    [text(1), `.${at.text}`],
    [text({}), `.${at.text}`],
    [text(["a"]), `.${at.text}`],
    [text(true), `.${at.text}`],
    [bytes(1), `.${at.bytes}`],
    [bytes({}), `.${at.bytes}`],
    [bytes("a b"), `.${at.bytes}`],
    [bytes("a"), `.${at.bytes}`],
    [bytes("aaaaa"), `.${at.bytes}`],
    [bytes("=aaa"), `.${at.bytes}`],
    [bytes("aGk==="), `.${at.bytes}`],
    [bytes("aGVsbG8=\n"), `.${at.bytes}`],
    [bytes("ä==="), `.${at.bytes}`],
    [bytes("data:;base64,aGk="), `.${at.bytes}`],
    [uri(""), spelling.emptyUri],
    [uri(1), `.${at.uri}`],
    [uri(["http://x"]), `.${at.uri}`],
    [data(deep(65)), `.${at.data}`],
    [data(deep(1_000)), `.${at.data}`],
    [spelling.mediaType(1), `.${at.mediaType}`],
    [spelling.mediaType([]), `.${at.mediaType}`],
    [spelling.filename({}), `.${at.filename}`],
    [{ ...text("x"), metadata: "m" }, ".metadata"],
    [{ ...text("x"), metadata: [] }, ".metadata"],
    [{ ...text("x"), metadata: { a: deep(66) } }, ".metadata"],
  ];
}

function wrongConfigurations({ base, parts, text, push, wait, scheme }: Spelling): readonly WrongSend[] {
  const message = { ...base, [parts]: [text("x")] };
  const configured = (configuration: unknown): object => ({ message, configuration });
  return [
    [configured("x"), "configuration"],
    [configured([]), "configuration"],
    [configured(7), "configuration"],
    [configured({ [wait]: "true" }), `configuration.${wait}`],
    [configured({ [wait]: 1 }), `configuration.${wait}`],
    [configured({ blocking: "no" }), "configuration.blocking"],
    [configured({ historyLength: -1 }), "configuration.historyLength"],
    [configured({ historyLength: 1.5 }), "configuration.historyLength"],
    [configured({ historyLength: "many" }), "configuration.historyLength"],
    [configured({ historyLength: "1.5" }), "configuration.historyLength"],
    [configured({ historyLength: [] }), "configuration.historyLength"],
    [configured({ historyLength: true }), "configuration.historyLength"],
    [configured({ historyLength: 2 ** 31 }), "configuration.historyLength"],
    [configured({ historyLength: "9999999999" }), "configuration.historyLength"],
    [configured({ acceptedOutputModes: "text/plain" }), "configuration.acceptedOutputModes"],
    [configured({ acceptedOutputModes: [1] }), "configuration.acceptedOutputModes[0]"],
    [configured({ acceptedOutputModes: [""] }), "configuration.acceptedOutputModes[0]"],
    [configured({ [push]: "x" }), `configuration.${push}`],
    [configured({ [push]: [] }), `configuration.${push}`],
    [configured({ [push]: {} }), `configuration.${push}.url`],
    [configured({ [push]: { url: 1 } }), `configuration.${push}.url`],
    [configured({ [push]: { url: "u", token: 1 } }), `configuration.${push}.token`],
    [configured({ [push]: { url: "u", authentication: "Bearer" } }), `configuration.${push}.authentication`],
    [
      configured({ [push]: { url: "u", authentication: { credentials: "x" } } }),
      `configuration.${push}.authentication.${scheme}`,
    ],
    [
      configured({ [push]: { url: "u", authentication: { [scheme]: 1 } } }),
      `configuration.${push}.authentication.${scheme}`,
    ],
  ];
}
