import { agent, createServer, type Server } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerTo, type FramesAnswer, PREFACE, SETTINGS, TYPE } from "./frames.ts";
import { DROPPED_HEADERS, HOSTILE_STREAMS, VALID_STREAM } from "./hostile-streams.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
let runs = 0;
/** The headers of requests that reached the server's code. */
let seen: string[] = [];
let server: Server;
let url: string;
beforeAll(async () => {
  const counting = agent({
    name: "Counting",
    description: "Counts its runs.",
    version: "1.0.0",
    async run() {
      runs += 1;
      return "done";
    },
  });
  server = createServer(counting, {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    authenticate: ({ headers }) => {
      seen.push(...["x-name", "x name", "host"].flatMap((name) => headers.get(name) ?? []));
      return { id: "anyone", anonymous: false };
    },
  });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

/** Status 400 in the static table of HPACK (RFC 7541, appendix A), as an indexed field. */
const STATUS_400 = 0x80 + 12;

function outcomeOf({ types, headers }: FramesAnswer): "reset" | "closed" | "400" | "accepted" {
  if (types.includes(TYPE.reset)) return "reset";
  if (types.includes(TYPE.goaway)) return "closed";
  return headers[0] === STATUS_400 ? "400" : "accepted";
}

describe("A request that HTTP/2 forbids", () => {
  it.each(HOSTILE_STREAMS)("is refused, and nothing runs: $name", async ({ frames }) => {
    expect(outcomeOf(await answerTo(url, [PREFACE, SETTINGS, ...frames]))).toMatch(/^(reset|closed|400)$/);
    expect(runs).toBe(0);
  });

  it.each(DROPPED_HEADERS)("loses the header that is invalid: $name", async ({ frames }) => {
    seen = [];
    expect(outcomeOf(await answerTo(url, [PREFACE, SETTINGS, ...frames]))).toBe("accepted");
    expect(seen).toEqual(["127.0.0.1"]);
  });

  it("is one of 24, each broken in one place: the unbroken one runs", async () => {
    expect(HOSTILE_STREAMS).toHaveLength(24);
    runs = 0;
    expect(outcomeOf(await answerTo(url, [PREFACE, SETTINGS, ...VALID_STREAM.frames]))).toBe("accepted");
    expect(runs).toBe(1);
  });
});
