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

/** A server process on SQLite behind a proxy. The proxy kills the process (SIGKILL) and starts another one between two requests. */
export interface RestartingServer {
  /** The URL of the proxy. */
  readonly url: string;
  readonly kills: number;
  /** Requests that did not reach the server. */
  readonly problems: readonly string[];
  /** Resolves when the next process is loaded. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
}

/** A process that is loaded and waits for the word to start. */
interface Spare {
  readonly process: ChildProcess;
  /** Resolves when it is loaded. */
  readonly loaded: Promise<void>;
  readonly isLoaded: () => boolean;
  /** Resolves with its URL when it serves. */
  start(): Promise<string>;
}

/**
 * Starts a server, and kills it before polls of tasks (`tasks/get`) for which the next process is loaded: the conformance kit waits 5 s for a task and 10 s for
 * an answer, and loading a process can take longer on a busy machine. So the number of kills depends on the speed of the machine, and the time of a poll hardly
 * does. After `ready` the next poll is one with a kill, on every machine.
 */
export async function startRestartingServer(): Promise<RestartingServer> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-mcp-"));
  const load = (): Spare => createSpare(`sqlite:${join(folder, "tasks.db")}`);
  let spare: Spare | undefined = load();
  let isClosed = false;
  const start = async (): Promise<Running> => {
    const next = spare ?? load();
    spare = undefined;
    await next.loaded;
    return { process: next.process, url: await next.start() };
  };
  /** The next process is loaded after an answer: until then the server needs the processor. */
  const refill = (): void => {
    if (!isClosed) spare ??= load();
  };
  let current = await start();
  refill();
  let kills = 0;
  let busy: Promise<void> = Promise.resolve();
  const problems: string[] = [];
  /** Requests that the server has not answered. */
  let open = 0;
  const restart = async (): Promise<void> => {
    current.process.kill("SIGKILL");
    await once(current.process, "exit");
    kills += 1;
    current = await start();
  };
  const proxy = http.createServer((request, response) => {
    const method = String(request.headers["mcp-method"] ?? "");
    if (method === "tasks/get" && open === 0 && spare?.isLoaded() === true) busy = busy.then(restart);
    open += 1;
    response.on("close", () => {
      open -= 1;
      refill();
    });
    const failed = (error: unknown): void => {
      problems.push(`${method}: ${String(error)}`);
      response.destroy();
    };
    busy.then(() => {
      const target = new URL(request.url ?? "/", current.url);
      // The kit's own `Host` must arrive: a check sends a forged one.
      const forwarded = http.request(target, { method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forwarded.on("error", failed);
      request.pipe(forwarded);
    }, failed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  // Safe cast: a listening TCP server has an address.
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get kills() {
      return kills;
    },
    problems,
    async ready() {
      refill();
      await spare?.loaded;
    },
    async close() {
      proxy.close();
      proxy.closeAllConnections();
      await busy.catch(() => undefined);
      isClosed = true;
      for (const { process: child } of [current, ...(spare === undefined ? [] : [spare])]) {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function createSpare(store: string): Spare {
  const child = spawn(process.execPath, [PROGRAM, store, "0"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, LOG_LEVEL: "silent" },
  });
  child.stdin.on("error", () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error("The server did not start.");
    return value;
  };
  let isLoaded = false;
  const loaded = line().then(() => {
    isLoaded = true;
  });
  loaded.catch(() => undefined);
  return {
    process: child,
    loaded,
    isLoaded: () => isLoaded,
    start() {
      child.stdin.write("\n");
      return line();
    },
  };
}
