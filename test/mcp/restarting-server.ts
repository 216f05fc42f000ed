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

/** The conformance kit waits 5 s for a task and 10 s for an answer. A process that has to be loaded first can take longer on a busy machine. */
const SPARES = 2;

export interface RestartingOptions {
  /** Kill the server before the polls of tasks. */
  readonly kills: boolean;
}

/**
 * Starts a server. It is killed before the first poll of each task, and before every later poll for which the next process is loaded: so how often depends on
 * the speed of the machine, and how long a poll takes hardly does.
 */
export async function startRestartingServer(options: RestartingOptions): Promise<RestartingServer> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-mcp-"));
  const spares: Spare[] = [];
  let isClosed = false;
  const refill = (): void => {
    while (!isClosed && spares.length < SPARES) spares.push(createSpare(`sqlite:${join(folder, "tasks.db")}`));
  };
  const start = async (): Promise<Running> => {
    refill();
    const spare = spares.shift();
    if (spare === undefined) throw new Error("There is no spare process.");
    await spare.loaded;
    return { process: spare.process, url: await spare.start() };
  };
  let current = await start();
  refill();
  let kills = 0;
  let busy: Promise<void> = Promise.resolve();
  const problems: string[] = [];
  const restart = async (): Promise<void> => {
    current.process.kill("SIGKILL");
    await once(current.process, "exit");
    kills += 1;
    current = await start();
  };
  const polled = new Set<string>();
  const isKillDue = ({ "mcp-method": method, "mcp-name": task = "" }: http.IncomingHttpHeaders): boolean => {
    if (!options.kills || method !== "tasks/get") return false;
    const isFirst = !polled.has(String(task));
    polled.add(String(task));
    return isFirst || spares[0]?.isLoaded() === true;
  };
  const proxy = http.createServer((request, response) => {
    if (isKillDue(request.headers)) busy = busy.then(restart);
    const failed = (error: unknown): void => {
      problems.push(`${request.headers["mcp-method"]}: ${String(error)}`);
      response.destroy();
    };
    // The next process is loaded after the answer: until then the server needs the processor.
    response.on("close", refill);
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
    async close() {
      proxy.close();
      proxy.closeAllConnections();
      await busy.catch(() => undefined);
      isClosed = true;
      for (const { process: child } of [current, ...spares]) {
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
