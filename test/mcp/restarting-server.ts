import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./kit-server.ts", import.meta.url));

/** A server process on SQLite behind a proxy. The proxy kills the process (SIGKILL) and starts it again between two requests. */
export interface RestartingServer {
  /** The URL of the proxy. */
  readonly url: string;
  readonly kills: number;
  close(): Promise<void>;
}

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
}

interface Waiting {
  readonly process: ChildProcess;
  /** The first line that it prints. */
  readonly line: Promise<unknown[]>;
}

export interface RestartingOptions {
  /** Kill the server before this request. */
  killBefore(method: string): boolean;
}

export async function startRestartingServer({ killBefore }: RestartingOptions): Promise<RestartingServer> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-mcp-"));
  const spawnWaiting = (): Waiting => {
    const child = spawn(process.execPath, [PROGRAM, `sqlite:${join(folder, "tasks.db")}`, "0"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, LOG_LEVEL: "silent" },
    });
    child.stdin.on("error", () => undefined);
    return { process: child, line: once(createInterface(child.stdout), "line") };
  };
  /** The next process is loaded before it is needed: clients do not wait long. */
  let next = spawnWaiting();
  const start = async (): Promise<Running> => {
    const { process: child, line } = next;
    child.stdin?.write("\n");
    next = spawnWaiting();
    const exited = once(child, "exit").then(() => Promise.reject(new Error("The server did not start.")));
    const [url]: unknown[] = await Promise.race([line, exited]);
    exited.catch(() => undefined);
    return { process: child, url: String(url) };
  };
  let current = await start();
  let kills = 0;
  let busy: Promise<void> = Promise.resolve();
  const restart = async (): Promise<void> => {
    current.process.kill("SIGKILL");
    await once(current.process, "exit");
    kills += 1;
    current = await start();
  };
  const proxy = http.createServer((request, response) => {
    if (killBefore(String(request.headers["mcp-method"] ?? ""))) busy = busy.then(restart);
    busy.then(
      () => {
        const target = new URL(request.url ?? "/", current.url);
        // The kit's own `Host` must arrive: a check sends a forged one.
        const forwarded = http.request(target, { method: request.method, headers: request.headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        });
        forwarded.on("error", () => response.destroy());
        request.pipe(forwarded);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  // Safe cast: a listening TCP server has an address.
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get kills() {
      return kills;
    },
    async close() {
      proxy.close();
      proxy.closeAllConnections();
      await busy.catch(() => undefined);
      next.line.catch(() => undefined);
      for (const { process: child } of [current, next]) {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
