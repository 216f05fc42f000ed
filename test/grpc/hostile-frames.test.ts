import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, type Serving, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { openSession, rawCall, SERVICE_1_0 } from "./call.ts";
import { attack, callHeaders, header, http2Frame, PREFACE, SETTINGS, TYPE } from "./frames.ts";
import { framed } from "./protobuf.ts";

const MB = 1024 * 1024;
const END_HEADERS = 4;
const GET = `/${SERVICE_1_0}/GetTask`;
/** Frames of a flood. Far more than the server accepts. */
const FLOOD = sampled(12_000, 200_000);
/** Milliseconds after which a connection that is still open counts as tolerated. */
const PATIENCE = 30_000;

const bench = new Workbench();
let server: Serving;
beforeAll(async () => {
  const setup = { modules: [fixture("ten-events.ts")], options: { headersTimeout: 500, requestTimeout: 1000 } };
  server = await bench.serveScript("server.ts", {
    env: { SETUP: JSON.stringify(setup) },
    nodeFlags: ["--expose-gc", "--max-semi-space-size=16"],
  });
});
afterAll(() => bench.close());

const rssOf = async () => ((await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage).rss;

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

const open = [PREFACE, SETTINGS];
const headers = (stream: number, block: Uint8Array, flags = END_HEADERS) =>
  http2Frame(TYPE.headers, { stream, flags, payload: block });
const call = (stream: number) => headers(stream, callHeaders(GET), END_HEADERS);

function* repeated(frame: (index: number) => Uint8Array, times: number, ...first: readonly Uint8Array[]) {
  yield* first;
  for (let index = 0; index < times; index++) yield frame(index);
}

/** What is sent on a connection of its own, and whether the server closes it. */
const ATTACKS: readonly (readonly [string, Iterable<Uint8Array>])[] = [
  ["a preface that goes on wrongly", [Buffer.from("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"), SETTINGS]],
  ["the preface of HTTP/3", [Buffer.from("PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n")]],
  ["three bytes and silence", [Buffer.from("PRI")]],
  ["two bytes and silence", [Buffer.from("PR")]],
  ["a preface and silence", [PREFACE]],
  ["a preface, settings and silence", open],
  ["a preface and noise", [PREFACE, Buffer.alloc(4096, 0xa5)]],
  ["a preface and a request of HTTP/1", [PREFACE, Buffer.from("GET / HTTP/1.1\r\nhost: x\r\n\r\n")]],
  ["no settings first", [PREFACE, http2Frame(TYPE.ping, { payload: Buffer.alloc(8) })]],
  ["a frame of 16 MB", [...open, http2Frame(TYPE.data, { stream: 1, length: 2 ** 24 - 1 }), Buffer.alloc(MB)]],
  ["settings of 5 bytes", [PREFACE, http2Frame(TYPE.settings, { payload: Buffer.alloc(5) })]],
  ["settings on a stream", [PREFACE, http2Frame(TYPE.settings, { stream: 1 })]],
  [
    "settings with an invalid value",
    [PREFACE, http2Frame(TYPE.settings, { payload: Buffer.from("00020000000f", "hex") })],
  ],
  [
    "1,000 settings in one frame",
    [PREFACE, http2Frame(TYPE.settings, { payload: Buffer.alloc(6000, "000300000001", "hex") })],
  ],
  ["a flood of settings", repeated(() => SETTINGS, FLOOD, ...open)],
  ["a flood of pings", repeated(() => http2Frame(TYPE.ping, { payload: Buffer.alloc(8) }), FLOOD, ...open)],
  ["a flood of empty data frames", repeated(() => http2Frame(TYPE.data, { stream: 1 }), FLOOD, ...open, call(1))],
  [
    "a flood of priorities",
    repeated((index) => http2Frame(TYPE.priority, { stream: 2 * index + 1, payload: Buffer.alloc(5) }), FLOOD, ...open),
  ],
  ["a flood of unknown frames", repeated(() => http2Frame(99, { payload: Buffer.alloc(16) }), FLOOD, ...open)],
  ["data on stream 0", [...open, http2Frame(TYPE.data, { payload: Buffer.from("x") })]],
  ["data on an idle stream", [...open, http2Frame(TYPE.data, { stream: 7, payload: Buffer.from("x") })]],
  ["headers on stream 0", [...open, headers(0, callHeaders(GET))]],
  ["headers on an even stream", [...open, headers(2, callHeaders(GET))]],
  ["a push", [...open, call(1), http2Frame(TYPE.push, { stream: 1, payload: u32(2) })]],
  ["a reset of an idle stream", [...open, http2Frame(TYPE.reset, { stream: 9, payload: u32(8) })]],
  ["a reset of 3 bytes", [...open, call(1), http2Frame(TYPE.reset, { stream: 1, payload: Buffer.alloc(3) })]],
  ["a window that grows by 0", [...open, http2Frame(TYPE.window, { payload: u32(0) })]],
  ["a window that overflows", [...open, http2Frame(TYPE.window, { payload: u32(0x7fffffff) })]],
  [
    "a continuation without headers",
    [...open, http2Frame(TYPE.continuation, { stream: 1, payload: callHeaders(GET) })],
  ],
  [
    "another frame within headers",
    [...open, headers(1, callHeaders(GET), 0), http2Frame(TYPE.ping, { payload: Buffer.alloc(8) })],
  ],
  ["headers that never end", [...open, headers(1, callHeaders(GET), 0)]],
  [
    "a flood of continuations",
    repeated(
      () => http2Frame(TYPE.continuation, { stream: 1, payload: header("x-a", "b") }),
      FLOOD,
      ...open,
      headers(1, callHeaders(GET), 0),
    ),
  ],
  [
    "a flood of empty continuations",
    repeated(() => http2Frame(TYPE.continuation, { stream: 1 }), FLOOD, ...open, headers(1, callHeaders(GET), 0)),
  ],
  ["HPACK: an unknown index", [...open, headers(1, Uint8Array.of(0xff, 0xff, 0xff, 0x7f))]],
  ["HPACK: a broken Huffman code", [...open, headers(1, Uint8Array.of(0x00, 0x81, 0xff, 0x01, 0x78))]],
  ["HPACK: a table larger than allowed", [...open, headers(1, Uint8Array.of(0x3f, 0xff, 0xff, 0xff, 0x7f))]],
  ["rapid reset", rapidReset()],
  ["resets that the caller provokes by invalid windows", provokedResets()],
  [
    "a window of a stream that overflows",
    [...open, call(1), http2Frame(TYPE.window, { stream: 1, payload: u32(0x7fffffff) })],
  ],
  [
    "an initial window of more than 2^31 - 1",
    [PREFACE, http2Frame(TYPE.settings, { payload: Buffer.from("000480000000", "hex") })],
  ],
  ["a largest frame of 1 byte", [PREFACE, http2Frame(TYPE.settings, { payload: Buffer.from("000500000001", "hex") })]],
  ["a ping of 7 bytes", [...open, http2Frame(TYPE.ping, { payload: Buffer.alloc(7) })]],
  ["a ping on a stream", [...open, http2Frame(TYPE.ping, { stream: 1, payload: Buffer.alloc(8) })]],
  ["a GOAWAY on a stream", [...open, http2Frame(TYPE.goaway, { stream: 1, payload: u32(0, 0) })]],
  ["an answer to settings with content", [...open, http2Frame(TYPE.settings, { flags: 1, payload: Buffer.alloc(6) })]],
  [
    "padding longer than its frame",
    [...open, call(1), http2Frame(TYPE.data, { stream: 1, flags: 8, payload: Uint8Array.of(200, 1, 2) })],
  ],
  ["a flood of windows", repeated(() => http2Frame(TYPE.window, { payload: u32(0x00ffffff) }), 1000, ...open)],
];

function* rapidReset(): Iterable<Uint8Array> {
  yield* open;
  for (let stream = 1; stream < FLOOD; stream += 2) {
    yield Buffer.concat([call(stream), http2Frame(TYPE.reset, { stream, payload: u32(8) })]);
  }
}

/** The server, not the caller, resets each stream. */
function* provokedResets(): Iterable<Uint8Array> {
  yield* open;
  for (let stream = 1; stream < FLOOD; stream += 2) {
    yield Buffer.concat([call(stream), http2Frame(TYPE.window, { stream, payload: u32(0) })]);
  }
}

/** A header of 4,000 bytes goes into the dynamic table, and each further byte repeats it. */
function* hpackBomb(): Iterable<Uint8Array> {
  yield* open;
  const literal = header("x-bomb", "b".repeat(4000));
  literal[0] = 0x40;
  for (let stream = 1; stream < 200; stream += 2) {
    const block =
      stream === 1
        ? Buffer.concat([callHeaders(GET), literal])
        : Buffer.concat([callHeaders(GET), Buffer.alloc(16_000, 0xbe)]);
    yield headers(stream, block);
  }
}

const unknownTask = framed(Uint8Array.of(0x12, 1, 0x78));

async function answersOthers(): Promise<void> {
  const session = await openSession(server.url);
  expect(await rawCall(session, { path: GET, body: unknownTask })).toMatchObject({ grpc: 5 });
  session.destroy();
}

describe("A connection that misuses HTTP/2", () => {
  let before: number;
  beforeAll(async () => {
    before = await rssOf();
  });

  it("is one of 47", () => {
    expect(ATTACKS).toHaveLength(47);
  });

  it.each(ATTACKS)("is closed, and the server answers others: %s", async (_, pieces) => {
    expect(await attack(server.url, pieces, PATIENCE)).toBe("closed");
    await answersOthers();
  });

  it("cannot fill the memory with an HPACK bomb: one header, repeated 16,000 times by one byte each", async () => {
    await attack(server.url, hpackBomb(), 500);
    await answersOthers();
  });

  it("can be one of 500 that open and say nothing", async () => {
    const all = Array.from({ length: 500 }, () => attack(server.url, [PREFACE], PATIENCE));
    expect(new Set(await Promise.all(all))).toEqual(new Set(["closed"]));
  });

  it("closes only itself: two streams on one connection do not block each other", async () => {
    const session = await openSession(server.url);
    const unfinished = session.request(
      { ":method": "POST", ":path": GET, "content-type": "application/grpc" },
      { endStream: false },
    );
    unfinished.on("error", () => undefined);
    unfinished.write(Uint8Array.of(0, 0));
    expect(await rawCall(session, { path: GET, body: framed(Uint8Array.of(0x12, 1, 0x78)) })).toMatchObject({
      grpc: 5,
    });
    session.destroy();
  });

  it("makes the server grow by less than 50 MB, all of the above together", async () => {
    const growth = ((await rssOf()) - before) / MB;
    process.stdout.write(`RSS after ${ATTACKS.length} attacks on HTTP/2: ${growth.toFixed(1)} MB more\n`);
    expect(growth).toBeLessThan(50);
  });
});
