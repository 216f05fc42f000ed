import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { readText } from "./http.ts";
import { type ServerSentEvent, SseParser } from "./sse.ts";

const UNLIMITED = { maxEventLength: Number.POSITIVE_INFINITY };

function parse(...pieces: string[]): ServerSentEvent[] {
  const parser = new SseParser(UNLIMITED);
  return pieces.flatMap((piece) => parser.push(piece));
}

/** Parses bytes that arrive in these chunks. */
async function readPieces(pieces: readonly Uint8Array[]): Promise<ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const reader = readText(new Response(body), { signal: new AbortController().signal });
  const parser = new SseParser(UNLIMITED);
  const events: ServerSentEvent[] = [];
  for (let text = await reader.next(); text !== undefined; text = await reader.next())
    events.push(...parser.push(text));
  const last = parser.end();
  return last === undefined ? events : [...events, last];
}

const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll(/[\r\n\0]/g, ""));
const eventOf = fc.record({
  data: fc
    .array(line, { minLength: 1, maxLength: 3 })
    .map((lines) => lines.join("\n"))
    .filter((data) => data !== ""),
  event: fc.oneof(
    fc.constant("message"),
    line.filter((name) => name !== ""),
  ),
  id: fc.option(line, { nil: undefined }),
});
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");

/** Comments, unknown fields and empty lines between events. */
const noise = fc.constantFrom("", ": still here", "colour: blue", "retry: soon");

const streamOf = fc.array(fc.tuple(eventOf, noise, lineEnd), { maxLength: 10 });

function write([{ data, event, id }, extra, end]: readonly [ServerSentEvent, string, string]): string {
  const lines = [
    ...(extra === "" ? [] : [extra]),
    ...(event === "message" ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...data.split("\n").map((text) => `data: ${text}`),
    "",
  ];
  return lines.map((text) => `${text}${end}`).join("");
}

describe("Server-Sent Events", () => {
  it("are parsed correctly wherever the bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(
        streamOf,
        fc.boolean(),
        fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
        async (stream, mark, cuts) => {
          const bytes = new TextEncoder().encode(`${mark ? "\u{feff}" : ""}${stream.map(write).join("")}`);
          const pieces: Uint8Array[] = [];
          for (let start = 0; start < bytes.length; ) {
            const length = cuts.next().value ?? 1;
            pieces.push(bytes.subarray(start, start + length));
            start += length;
          }
          expect(await readPieces(pieces)).toEqual(stream.map(([event]) => event));
        },
      ),
      { numRuns: sampled(40, 300) },
    );
  });

  it("have their data lines joined, without one leading space each", () => {
    expect(parse("data:one\ndata:  two\ndata\n\n")).toEqual([{ data: "one\n two\n", event: "message", id: undefined }]);
  });

  it("may have a line end that is split between chunks", () => {
    expect(parse("data: a\r", "\n\r", "\ndata: b\r", "\r", "data: c\n\n").map(({ data }) => data)).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("are ignored without data", () => {
    expect(parse("id: 5\nevent: nothing\n\n: a comment\n\n")).toEqual([]);
  });

  it("do not inherit the id of the event before, and ignore ids with NUL", () => {
    expect(parse("id: 1\ndata: a\n\ndata: b\n\nid: \0\ndata: c\n\n").map(({ id }) => id)).toEqual([
      "1",
      undefined,
      undefined,
    ]);
  });

  it("set the reconnection time with a valid retry field", () => {
    const parser = new SseParser(UNLIMITED);
    parser.push("retry: 1000\n\n");
    expect(parser.retry).toBe(1000);
    parser.push("retry: soon\n\nretry: -1\n\n");
    expect(parser.retry).toBe(1000);
  });

  it("are complete if the stream ends before the empty line, but not within a line", () => {
    const whole = new SseParser(UNLIMITED);
    whole.push("data: a\n");
    expect(whole.end()).toEqual({ data: "a", event: "message", id: undefined });
    const cut = new SseParser(UNLIMITED);
    cut.push("data: a\ndata: b");
    expect(cut.end()).toBeUndefined();
  });

  it.each([
    ["one line", (size: number) => ["data: ", "x".repeat(size), "x".repeat(size)]],
    ["many lines", (size: number) => Array.from({ length: size }, () => "data: x\n")],
    ["an endless comment", (size: number) => [":", "x".repeat(size), "x"]],
  ])("are refused if they are too long: %s", (_, pieces) => {
    const parser = new SseParser({ maxEventLength: 1000 });
    expect(() => {
      for (const piece of pieces(1000)) parser.push(piece);
    }).toThrow(expect.objectContaining({ code: "event-too-large" }));
  });

  it("may be many, with any number of comments, if each is short", () => {
    const parser = new SseParser({ maxEventLength: 100 });
    for (let index = 0; index < 1000; index++) parser.push(`: still here ${index}\n`);
    expect(parser.push("data: a\n\n".repeat(1000))).toHaveLength(1000);
  });
});
