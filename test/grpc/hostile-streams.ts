import { SERVICE_1_0 } from "./call.ts";
import { header, http2Frame, TYPE } from "./frames.ts";
import { VALID } from "./hostile-calls.ts";

/** A request that HTTP/2 itself forbids, as the frames of stream 1. */
export interface HostileStream {
  readonly name: string;
  readonly frames: readonly Uint8Array[];
}

const END_STREAM = 1;
const END_HEADERS = 4;
const SEND = `/${SERVICE_1_0}/SendMessage`;
type Pair = readonly [name: string, value: string];

const PSEUDO: readonly Pair[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", SEND],
  [":authority", "127.0.0.1"],
];
const USUAL: readonly Pair[] = [...PSEUDO, ["content-type", "application/grpc"], ["te", "trailers"]];

const without = (name: string): readonly Pair[] => USUAL.filter(([each]) => each !== name);

/** Nothing is wrong with it. */
export const VALID_STREAM: HostileStream = request("a valid send", USUAL);

function request(name: string, pairs: readonly Pair[], body: Uint8Array = VALID): HostileStream {
  const block = Buffer.concat(pairs.map(([each, value]) => header(each, value)));
  return {
    name,
    frames: [
      http2Frame(TYPE.headers, { stream: 1, flags: END_HEADERS, payload: block }),
      http2Frame(TYPE.data, { stream: 1, flags: END_STREAM, payload: body }),
    ],
  };
}

/** Each has the message of a valid send, so that its agent would run if the headers were accepted. */
export const HOSTILE_STREAMS: readonly HostileStream[] = [
  request("no :method", without(":method")),
  request("no :scheme", without(":scheme")),
  request("no :path", without(":path")),
  request("an empty :path", [...without(":path"), [":path", ""]]),
  request("two :path", [...PSEUDO, [":path", SEND], ...USUAL.slice(PSEUDO.length)]),
  request("an unknown pseudo-header", [[":agent", "first"], ...USUAL]),
  request("the pseudo-header of an answer", [[":status", "200"], ...USUAL]),
  request("a pseudo-header after the others", [...without(":scheme"), [":scheme", "http"]]),
  request("a name in upper case", [...USUAL, ["X-Name", "x"]]),
  request("connection", [...USUAL, ["connection", "close"]]),
  request("keep-alive", [...USUAL, ["keep-alive", "timeout=5"]]),
  request("transfer-encoding", [...USUAL, ["transfer-encoding", "chunked"]]),
  request("upgrade", [...USUAL, ["upgrade", "h2c"]]),
  request("proxy-connection", [...USUAL, ["proxy-connection", "close"]]),
  request("te: gzip", [...without("te"), ["te", "gzip"]]),
  request("a content length that is too small", [...USUAL, ["content-length", "3"]]),
  request("a content length that is too large", [...USUAL, ["content-length", "3000"]]),
  request("a negative content length", [...USUAL, ["content-length", "-1"]]),
  request("a content length that is none", [...USUAL, ["content-length", "many"]]),
  request("two content lengths", [...USUAL, ["content-length", "22"], ["content-length", "23"]]),
  request("another host", [...USUAL, ["host", "elsewhere.example"]]),
  request("CONNECT", [
    [":method", "CONNECT"],
    [":authority", "127.0.0.1"],
  ]),
  request("120 headers", [...USUAL, ...Array.from({ length: 120 }, (_, index): Pair => [`x-${index}`, "v"])]),
  request("28 KB of headers", [
    ...USUAL,
    ...Array.from({ length: 40 }, (_, index): Pair => [`x-${index}`, "v".repeat(700)]),
  ]),
];

/** Each has one header that HTTP/2 forbids and that is left out; the rest of the request is valid. */
export const DROPPED_HEADERS: readonly HostileStream[] = [
  request("an empty name", [...USUAL, ["", "x"]]),
  request("a name with a space", [...USUAL, ["x name", "x"]]),
  request("a name with a line break", [...USUAL, ["x\r\nhost", "x"]]),
  request("a value with a line break", [...USUAL, ["x-name", "x\r\nhost: elsewhere"]]),
  request("a value with NUL", [...USUAL, ["x-name", "x\0y"]]),
];
