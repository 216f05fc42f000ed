import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Counts the round trips of the connections on which a node commits. */
export interface RoundTrips {
  readonly port: number;
  /** Requests that the server has to answer, on connections that commit, since the start. */
  count(): number;
  close(): void;
}

const QUERY = 0x51;
const SYNC = 0x53;
/** The functions by which the store commits. */
const COMMITS = /\.(?:commit|append)_\d+\(/;

/** A proxy between one node and the database that reads the frontend messages of the protocol. `port`: that of the database. */
export async function countRoundTrips(port: number): Promise<RoundTrips> {
  let trips = 0;
  const server = createServer({ noDelay: true }, (node) => {
    const database = connect({ port, host: "127.0.0.1", noDelay: true });
    const reader = new MessageReader();
    let commits = false;
    let own = 0;
    node.on("data", (bytes: Buffer) => {
      reader.feed(bytes, (type, body) => {
        commits ||= COMMITS.test(body.toString("latin1"));
        if (type !== SYNC && type !== QUERY) return;
        own += 1;
        if (!commits) return;
        trips += own;
        own = 0;
      });
      database.write(bytes);
    });
    database.on("data", (bytes: Buffer) => node.write(bytes));
    for (const [one, other] of [
      [node, database],
      [database, node],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return { port: address.port, count: () => trips, close: () => void server.close() };
}

/** Splits the bytes of a client into messages. The first one has no type. */
class MessageReader {
  #bytes: Buffer = Buffer.alloc(0);
  #isFirst = true;

  feed(bytes: Buffer, onMessage: (type: number, body: Buffer) => void): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const head = this.#isFirst ? 0 : 1;
      if (this.#bytes.length < head + 4) return;
      const end = head + this.#bytes.readInt32BE(head);
      if (this.#bytes.length < end) return;
      if (!this.#isFirst) onMessage(this.#bytes[0] ?? 0, this.#bytes.subarray(head + 4, end));
      this.#isFirst = false;
      this.#bytes = this.#bytes.subarray(end);
    }
  }
}
