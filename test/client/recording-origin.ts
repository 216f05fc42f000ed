import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a server received. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server with its own origin that records what it receives, byte for byte. */
export interface RecordingOrigin {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

export async function openOrigin(
  answer: (response: ServerResponse, request: Received) => void,
): Promise<RecordingOrigin> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const entry: Received = { method, url, headers, body: Buffer.concat(pieces).toString() };
      received.push(entry);
      answer(response, entry);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
