import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Random } from "./random.ts";

/**
 * A TCP proxy on the loopback address that cuts and stalls connections, between callers and servers whose ports change
 * with every start. Connections go to the servers in turn; a server that refuses a connection is skipped.
 */
export class UnreliableProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #random: Random;
  readonly #targets = new Map<number, number>();
  #turn = 0;
  #cuts = 0;
  #calm = false;

  private constructor(random: Random) {
    this.#random = random;
    this.#server = createServer({ noDelay: true }, (reader) => void this.#join(reader));
  }

  static async start(random: Random): Promise<UnreliableProxy> {
    const proxy = new UnreliableProxy(random);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy is not listening.");
    return `http://127.0.0.1:${address.port}`;
  }

  get cuts(): number {
    return this.#cuts;
  }

  /** Sets the address of a server. */
  leadTo(url: string, server = 0): void {
    this.#targets.set(server, Number(new URL(url).port));
  }

  /** Opens no more connections to this server. */
  leadAwayFrom(server: number): void {
    this.#targets.delete(server);
  }

  /** Cuts all open connections, or those for which `isCut` returns true. */
  cutAll(isCut: () => boolean = () => true): void {
    for (const pair of [...this.#pairs]) if (isCut()) this.#cut(pair);
  }

  /** Delivers no data on the open connections for that many milliseconds. */
  stallAll(time: number): void {
    const stalled = [...this.#pairs];
    for (const { upstream } of stalled) upstream.pause();
    setTimeout(() => {
      for (const { upstream } of stalled) upstream.resume();
    }, time).unref();
  }

  /** Stops cutting new connections. */
  calm(): void {
    this.#calm = true;
  }

  async close(): Promise<void> {
    for (const { reader, upstream } of this.#pairs) {
      reader.destroy();
      upstream.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  async #join(reader: Socket): Promise<void> {
    reader.on("error", () => {});
    reader.pause();
    const upstream = await this.#connect();
    if (upstream === undefined || reader.destroyed) {
      upstream?.destroy();
      reader.destroy();
      return;
    }
    const pair: Pair = { reader, upstream };
    this.#pairs.add(pair);
    const close = (): void => {
      reader.destroy();
      upstream.destroy();
      this.#pairs.delete(pair);
    };
    let left = this.#bytesUntilCut();
    for (const socket of [reader, upstream]) socket.on("error", close);
    reader.on("close", close).pipe(upstream);
    upstream.on("close", () => reader.end());
    upstream.on("data", (bytes) => {
      const passed = bytes.subarray(0, left);
      left -= passed.length;
      if (left === 0) this.#cut(pair, passed);
      else if (!reader.write(passed)) {
        upstream.pause();
        reader.once("drain", () => upstream.resume());
      }
    });
  }

  /** Connects to the next server, as a load balancer does. `undefined`: none accepts connections. */
  async #connect(): Promise<Socket | undefined> {
    const ports = [...this.#targets.values()];
    const turn = this.#turn++;
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[(turn + tries) % ports.length] ?? 0;
      const socket = connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => {});
      try {
        await once(socket, "connect");
        return socket;
      } catch {
        socket.destroy();
      }
    }
    return undefined;
  }

  #bytesUntilCut(): number {
    if (this.#calm || !this.#random.chance(0.15)) return Number.POSITIVE_INFINITY;
    return this.#random.between(1, this.#random.pick([300, 3000, 30_000]));
  }

  /** Data that has passed arrives; then the connection is reset without a regular end. */
  #cut(pair: Pair, last: Uint8Array = new Uint8Array(0)): void {
    if (!this.#pairs.delete(pair)) return;
    this.#cuts += 1;
    pair.upstream.destroy();
    pair.reader.write(last, () => pair.reader.resetAndDestroy());
  }
}

interface Pair {
  readonly reader: Socket;
  readonly upstream: Socket;
}
