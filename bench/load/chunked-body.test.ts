import { expect, test } from "vitest";
import { ChunkedBody } from "./chunked-body.ts";

const CHUNKED =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "b\r\ndata: one\n\n\r\n1b\r\ndata: two\n\ndata: r\u00e9sum\u00e9\n\n\r\n0\r\n\r\n";
const BODY = "data: one\n\ndata: two\n\ndata: r\u00e9sum\u00e9\n\n";

function read(response: string, pieceSize: number): { body: string; parser: ChunkedBody } {
  const parser = new ChunkedBody();
  const bytes = Buffer.from(response);
  const body: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += pieceSize) {
    parser.feed(bytes.subarray(start, start + pieceSize), (piece) => body.push(Buffer.from(piece)));
  }
  return { body: Buffer.concat(body).toString("utf8"), parser };
}

test("extracts the body of a chunked response, wherever the bytes are split", () => {
  for (let pieceSize = 1; pieceSize <= Buffer.byteLength(CHUNKED); pieceSize += 1) {
    const { body, parser } = read(CHUNKED, pieceSize);
    expect(body).toBe(BODY);
    expect(parser.ended).toBe(true);
    expect(parser.status).toBe(200);
    expect(parser.contentType).toBe("text/event-stream");
  }
});

test("extracts a body with a content length", () => {
  const { body, parser } = read("HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nsorry", 3);
  expect([body, parser.status, parser.ended]).toEqual(["sorry", 503, true]);
});

test("has not ended while the last chunk is missing", () => {
  expect(read(CHUNKED.slice(0, -7), 10).parser.ended).toBe(false);
});

test("throws on bytes that are not a chunk", () => {
  expect(() => read("HTTP/1.1 200 OK\r\n\r\nnonsense\r\n", 100)).toThrow("not a chunked body");
});
