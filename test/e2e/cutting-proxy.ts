import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that cuts each connection after a given number of response bytes. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cuts = 0;
  #cutNow = (): void => {};

  private constructor(target: URL, bytesUntilCut: () => number) {
    this.#server = createServer({ noDelay: true }, (reader) => {
      const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
      for (const socket of [reader, upstream]) {
        this.#sockets.add(socket);
        socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
      }
      let left = bytesUntilCut();
      let isCut = false;
      const cut = (last: Buffer): void => {
        if (isCut || reader.destroyed) return;
        this.#cuts++;
        isCut = true;
        upstream.destroy();
        // The bytes let through arrive; then the connection is reset without a regular end.
        reader.write(last, () => reader.resetAndDestroy());
      };
      const cutNow = (): void => cut(Buffer.alloc(0));
      reader.pipe(upstream);
      upstream.on("data", (bytes) => {
        this.#cutNow = cutNow;
        if (bytes.length < left) {
          left -= bytes.length;
          if (!reader.write(bytes)) {
            upstream.pause();
            reader.once("drain", () => upstream.resume());
          }
          return;
        }
        cut(bytes.subarray(0, left));
      });
      upstream.on("close", () => {
        if (!isCut) reader.end();
      });
      reader.on("close", () => upstream.destroy());
    });
  }

  static async start(target: string, bytesUntilCut: () => number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(target), bytesUntilCut);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy is not listening.");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Number of connections cut so far. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Cuts the connection that carried data last, if it is still open. */
  cutNow(): void {
    this.#cutNow();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
