import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { NotificationFilter } from "./notification-filter.ts";

interface Pair {
  readonly node: Socket;
  readonly database: Socket;
}

/** A TCP proxy between one node and the database, which cuts and delays connections and drops notifications. */
export class DatabaseProxy {
  readonly #port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #losesHints = false;
  #isDelayed = false;
  /** How many notifications were dropped. */
  lostHints = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer({ noDelay: true }, (node) => this.#join(node));
  }

  /** `port`: that of the database. */
  static async start(port: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy is not listening.");
    return address.port;
  }

  /** Resets the connections for which `isCut` returns true. */
  cut(isCut: () => boolean): void {
    for (const { node, database } of [...this.#pairs]) {
      if (!isCut()) continue;
      node.resetAndDestroy();
      database.resetAndDestroy();
    }
  }

  /** Passes nothing on for that many milliseconds, in either direction; new connections wait too. */
  delay(time: number): void {
    this.#isDelayed = true;
    for (const pair of this.#pairs) for (const socket of [pair.node, pair.database]) socket.pause();
    setTimeout(() => {
      this.#isDelayed = false;
      for (const pair of this.#pairs) for (const socket of [pair.node, pair.database]) socket.resume();
    }, time).unref();
  }

  /** Drops all notifications for that many milliseconds. */
  loseHints(time: number): void {
    this.#losesHints = true;
    setTimeout(() => {
      this.#losesHints = false;
    }, time).unref();
  }

  async close(): Promise<void> {
    this.cut(() => true);
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(node: Socket): void {
    const database = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    const pair: Pair = { node, database };
    this.#pairs.add(pair);
    const filter = new NotificationFilter(() => {
      if (this.#losesHints) this.lostHints += 1;
      return this.#losesHints;
    });
    for (const socket of [node, database]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        node.destroy();
        database.destroy();
      });
    }
    node.on("data", (bytes) => database.write(bytes));
    database.on("data", (bytes) => {
      const passed = filter.pass(bytes);
      if (passed.length > 0) node.write(passed);
    });
    if (this.#isDelayed) for (const socket of [node, database]) socket.pause();
  }
}
