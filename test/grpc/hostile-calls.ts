import type { OutgoingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { SERVICE_0_3, SERVICE_1_0 } from "./call.ts";
import { bytesField, concat, deepStruct, double, framed, message, number, tag, text, varint } from "./protobuf.ts";

/** A request that must be refused, with the status that refuses it. */
export interface HostileCall {
  readonly name: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  readonly expected: { readonly http: number } | { readonly grpc: number };
}

const OK = 200;
const INVALID_ARGUMENT = { grpc: 3 };
const NOT_FOUND = { grpc: 5 };
const RESOURCE_EXHAUSTED = { grpc: 8 };
const FAILED_PRECONDITION = { grpc: 9 };
const UNIMPLEMENTED = { grpc: 12 };
export const LIMIT = 100_000;

const SEND = `/${SERVICE_1_0}/SendMessage`;
const SEND_0_3 = `/${SERVICE_0_3}/SendMessage`;
const invalidUtf8 = Uint8Array.of(0xff, 0xfe, 0xc0, 0x80);

/** A valid message of 1.0, of which `changed` replaces fields. */
function message1_0(changed: Readonly<Record<number, Uint8Array>> = {}): Uint8Array {
  const fields: Record<number, Uint8Array> = {
    1: text(1, "m-1"),
    4: number(4, 1),
    5: message(5, text(1, "hello")),
    ...changed,
  };
  return concat(...Object.values(fields));
}

const send1_0 = (changed?: Readonly<Record<number, Uint8Array>>, ...more: readonly Uint8Array[]): Uint8Array =>
  framed(concat(bytesField(2, message1_0(changed)), ...more));

function send0_3(...fields: readonly Uint8Array[]): Uint8Array {
  return framed(message(1, ...fields));
}

/** A valid send of 1.0: what all others break in one place. */
export const VALID: Uint8Array = send1_0();

function* contentTypes(): Iterable<HostileCall> {
  const wrong = ["", "text/plain", "application/json", "application/grpc-web", "application/grpc-web+proto"];
  wrong.push("application/grpc+json", "application/grpc+thrift", "application/grpcx", "application/x-protobuf");
  for (const type of wrong)
    yield {
      name: `content type ${JSON.stringify(type)}`,
      path: SEND,
      headers: { "content-type": type },
      body: VALID,
      expected: { http: 415 },
    };
  for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"])
    yield {
      name: `HTTP method ${method}`,
      path: SEND,
      headers: { ":method": method },
      body: VALID,
      expected: { http: 405 },
    };
}

function* paths(): Iterable<HostileCall> {
  const wrong = ["/", "//", "///", "/x", `/${SERVICE_1_0}`, `/${SERVICE_1_0}/`, `/${SERVICE_1_0}//SendMessage`];
  wrong.push(
    `/${SERVICE_1_0}/sendMessage`,
    `${SEND}/more`,
    `/${SERVICE_1_0}/SendMessage%00`,
    `/a2a.v2.A2AService/SendMessage`,
  );
  wrong.push(`/${SERVICE_1_0}/TaskSubscription`, `/${SERVICE_0_3}/ListTasks`, `/${SERVICE_1_0}/__proto__`);
  wrong.push(
    `/${SERVICE_1_0}/constructor`,
    "/grpc.health.v1.Health/Nothing",
    "/../lf.a2a.v1.A2AService/x",
    `/${"x".repeat(8000)}/y`,
  );
  for (const path of wrong) yield { name: `path ${path.slice(0, 60)}`, path, body: VALID, expected: UNIMPLEMENTED };
}

function* framing(): Iterable<HostileCall> {
  const refused = (name: string, body: Uint8Array, headers: OutgoingHttpHeaders = {}) => ({
    name,
    path: SEND,
    body,
    headers,
    expected: INVALID_ARGUMENT,
  });
  yield refused("no message", new Uint8Array());
  for (const length of [1, 2, 3, 4]) yield refused(`${length} bytes of a prefix`, VALID.subarray(0, length));
  yield refused("a prefix alone", VALID.subarray(0, 5));
  yield refused("a message that ends early", VALID.subarray(0, VALID.byteLength - 1));
  yield refused("a byte after the message", concat(VALID, Uint8Array.of(0)));
  yield refused("two messages", concat(VALID, VALID));
  for (const flag of [2, 3, 127, 128, 255])
    yield refused(`compression flag ${flag}`, framed(VALID.subarray(5), { flag }));
  yield refused("compressed without an encoding", framed(gzipSync(VALID.subarray(5)), { flag: 1 }));
  yield refused("compressed as identity", framed(VALID.subarray(5), { flag: 1 }), { "grpc-encoding": "identity" });
  const gzip = { "grpc-encoding": "gzip" };
  yield refused("gzip that is none", framed(VALID.subarray(5), { flag: 1 }), gzip);
  yield refused("gzip that ends early", framed(gzipSync(VALID.subarray(5)).subarray(0, 20), { flag: 1 }), gzip);
  yield refused("empty gzip", framed(new Uint8Array(), { flag: 1 }), gzip);
  yield {
    ...refused("a gzip bomb", framed(gzipSync(Buffer.alloc(50_000_000)), { flag: 1 }), gzip),
    expected: RESOURCE_EXHAUSTED,
  };
  for (const length of [LIMIT + 1, 2 ** 31, 2 ** 32 - 1])
    yield { ...refused(`a message of ${length} bytes`, framed(VALID, { length })), expected: RESOURCE_EXHAUSTED };
  yield { ...refused("a body over the limit", framed(Buffer.alloc(LIMIT + 1))), expected: RESOURCE_EXHAUSTED };
  for (const encoding of ["br", "deflate", "snappy", "gzip, gzip", "GZIP"])
    yield { ...refused(`encoding ${encoding}`, VALID, { "grpc-encoding": encoding }), expected: UNIMPLEMENTED };
}

function* metadata(): Iterable<HostileCall> {
  const with1_0 = (name: string, headers: OutgoingHttpHeaders, expected: HostileCall["expected"]): HostileCall => ({
    name,
    path: SEND,
    headers,
    body: VALID,
    expected,
  });
  for (const timeout of ["", "S", "1", "1s", "-1S", "1.5S", "123456789S", "1S1S", "0x1S", "NaNS"])
    yield with1_0(`grpc-timeout ${JSON.stringify(timeout)}`, { "grpc-timeout": timeout }, INVALID_ARGUMENT);
  for (const version of ["9.9", "nonsense", "1", "-1.0", "1.0, 0.3"])
    yield with1_0(`a2a-version ${version}`, { "a2a-version": version }, FAILED_PRECONDITION);
  yield with1_0(
    "a host that differs from :authority",
    { ":authority": "127.0.0.1", host: "elsewhere.example" },
    { http: 400 },
  );
  const stream = `/${SERVICE_1_0}/SubscribeToTask`;
  yield {
    name: "a cursor for no task",
    path: stream,
    headers: { "last-event-id": "7" },
    body: framed(text(2, "x")),
    expected: NOT_FOUND,
  };
  for (const cursor of ["-1", "x", "1e3", "99999999999999999999"])
    yield {
      name: `a send that resumes at ${cursor}`,
      path: `/${SERVICE_1_0}/SendStreamingMessage`,
      headers: { "last-event-id": cursor },
      body: VALID,
      expected: INVALID_ARGUMENT,
    };
}

function* bytes(): Iterable<HostileCall> {
  const broken: readonly (readonly [string, Uint8Array])[] = [
    ["noise", Uint8Array.from({ length: 64 }, (_, index) => (index * 73 + 41) % 256)],
    ["a varint without an end", Uint8Array.of(0x80, 0x80, 0x80)],
    ["a varint of eleven bytes", concat(tag(2, 0), Buffer.alloc(10, 0xff), Uint8Array.of(1))],
    ["a field without a value", tag(2, 2)],
    ["a length beyond the end", concat(tag(2, 2), varint(1000))],
    ["a length of 2^64 - 1", concat(tag(2, 2), varint(2n ** 64n - 1n))],
    ["field number 0", concat(varint(2), varint(0))],
    ["wire type 6", concat(varint(2 * 8 + 6))],
    ["wire type 7", concat(varint(2 * 8 + 7))],
    ["an end of no group", tag(2, 4)],
    ["a group without an end", concat(tag(9, 3), text(1, "x"))],
    ["fixed32 that ends early", concat(tag(9, 5), Uint8Array.of(1))],
    ["fixed64 that ends early", concat(tag(9, 1), Uint8Array.of(1, 2, 3))],
    ["groups within groups, 10,000 deep", Buffer.alloc(20_000, tag(9, 3))],
  ];
  for (const [name, body] of broken) {
    yield { name: `1.0: ${name}`, path: SEND, body: framed(body), expected: INVALID_ARGUMENT };
    yield { name: `0.3: ${name}`, path: SEND_0_3, body: framed(body), expected: INVALID_ARGUMENT };
  }
}

function* fields(): Iterable<HostileCall> {
  const sends: readonly (readonly [string, Uint8Array])[] = [
    ["no message", framed(text(1, ""))],
    ["an empty message", framed(message(2))],
    ["no id", send1_0({ 1: new Uint8Array() })],
    ["an empty id", send1_0({ 1: text(1, "") })],
    ["an id with NUL", send1_0({ 1: text(1, "a\0b") })],
    ["an id of 300 characters", send1_0({ 1: text(1, "x".repeat(300)) })],
    ["an id that is not UTF-8", send1_0({ 1: bytesField(1, invalidUtf8) })],
    ["an id as a number", send1_0({ 1: number(1, 7) })],
    ["no role", send1_0({ 4: new Uint8Array() })],
    ["role 0", send1_0({ 4: number(4, 0) })],
    ["the role of the agent", send1_0({ 4: number(4, 2) })],
    ["an unknown role", send1_0({ 4: number(4, 99) })],
    ["a negative role", send1_0({ 4: number(4, -1n) })],
    ["no parts", send1_0({ 5: new Uint8Array() })],
    ["a part without content", send1_0({ 5: message(5) })],
    ["a part with text that is not UTF-8", send1_0({ 5: message(5, bytesField(1, invalidUtf8)) })],
    ["a part with an empty URL", send1_0({ 5: message(5, text(3, "")) })],
    ["1,001 parts", send1_0({ 5: concat(...Array.from({ length: 1001 }, () => message(5, text(1, "x")))) })],
    ["metadata with NaN", send1_0({ 6: message(6, message(1, text(1, "k"), message(2, double(2, Number.NaN)))) })],
    [
      "metadata with infinity",
      send1_0({ 6: message(6, message(1, text(1, "k"), message(2, double(2, Number.POSITIVE_INFINITY)))) }),
    ],
    ["metadata 70 levels deep", send1_0({ 6: bytesField(6, deepStruct(70)) })],
    ["metadata 1,000 levels deep", send1_0({ 6: bytesField(6, deepStruct(1000)) })],
    [
      "metadata that is not UTF-8",
      send1_0({ 6: message(6, message(1, bytesField(1, invalidUtf8), message(2, text(3, "v")))) }),
    ],
    ["a negative history", send1_0({}, message(3, number(3, -1n)))],
    ["a tenant that is not UTF-8", send1_0({}, bytesField(1, invalidUtf8))],
    ["a tenant that names no agent", send1_0({}, text(1, "agents/nobody"))],
    ["a webhook without a URL", send1_0({}, message(3, message(2, text(5, "t"))))],
    ["a webhook at an invalid URL", send1_0({}, message(3, message(2, text(4, "nowhere"))))],
  ];
  for (const [name, body] of sends) yield { name: `send: ${name}`, path: SEND, body, expected: INVALID_ARGUMENT };
  for (const [name, body] of [
    ["no message", framed(new Uint8Array())],
    ["no content", send0_3(text(1, "m"), number(4, 1))],
    ["an id that is not UTF-8", send0_3(bytesField(1, invalidUtf8), number(4, 1), message(5, text(1, "x")))],
    ["the role of the agent", send0_3(text(1, "m"), number(4, 2), message(5, text(1, "x")))],
    ["a file without content", send0_3(text(1, "m"), number(4, 1), message(5, message(2, text(3, "text/plain"))))],
  ] as const)
    yield { name: `send of 0.3: ${name}`, path: SEND_0_3, body, expected: INVALID_ARGUMENT };
  const listed: readonly (readonly [string, Uint8Array])[] = [
    ["page size 0", number(4, 0)],
    ["page size 101", number(4, 101)],
    ["page size -1", number(4, -1n)],
    ["an unknown state", number(3, 77)],
    ["a made-up page token", text(5, "made up")],
    ["history -1", number(6, -1n)],
    ["a time out of range", message(7, number(1, 2n ** 62n))],
  ];
  for (const [name, body] of listed)
    yield { name: `list: ${name}`, path: `/${SERVICE_1_0}/ListTasks`, body: framed(body), expected: INVALID_ARGUMENT };
  for (const name of ["", "x", "tasks", "tasks/", "Tasks/1"])
    yield {
      name: `get of 0.3: ${JSON.stringify(name)}`,
      path: `/${SERVICE_0_3}/GetTask`,
      body: framed(text(1, name)),
      expected: INVALID_ARGUMENT,
    };
  for (const name of ["tasks/1", "tasks/1/pushNotificationConfigs", "tasks/1/pushNotificationConfigs/"])
    yield {
      name: `webhook of 0.3: ${name}`,
      path: `/${SERVICE_0_3}/GetTaskPushNotificationConfig`,
      body: framed(text(1, name)),
      expected: INVALID_ARGUMENT,
    };
  yield {
    name: "get without an id",
    path: `/${SERVICE_1_0}/GetTask`,
    body: framed(new Uint8Array()),
    expected: INVALID_ARGUMENT,
  };
  yield { name: "get of no task", path: `/${SERVICE_1_0}/GetTask`, body: framed(text(2, "x")), expected: NOT_FOUND };
  yield {
    name: "cancel of no task",
    path: `/${SERVICE_1_0}/CancelTask`,
    body: framed(text(2, "x")),
    expected: NOT_FOUND,
  };
}

/** Requests in valid HTTP/2 that must be refused. */
export const HOSTILE_CALLS: readonly HostileCall[] = [
  ...contentTypes(),
  ...paths(),
  ...framing(),
  ...metadata(),
  ...bytes(),
  ...fields(),
];

/** The HTTP status of every call that is answered with a gRPC status. */
export const GRPC_HTTP: number = OK;
