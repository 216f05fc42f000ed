import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { trackChild } from "../children.ts";
import { hammer } from "./hammer.ts";
import { getBody, sendBody } from "./requests.ts";

export interface Load {
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
  readonly signal: AbortSignal;
  /** A new connection for each request. Default: connections are kept. */
  readonly reconnect?: boolean;
  /** The requests: blocking sends, or gets of the ids in a file, one per line. */
  readonly script: { readonly name: "send" } | { readonly name: "get"; readonly ids: string };
}

export interface LoadResult {
  readonly perSecond: number;
  /** Number of responses. */
  readonly requests: number;
}

const available = spawnSync("wrk", ["--version"]).error === undefined;

/** The name of the load generator. */
export const LOAD_TOOL: string = available
  ? `wrk -t${threads()} -c32`
  : "the bench's own load generator, 32 connections, because `wrk` is not on the PATH";

let runs = 0;

/** Sends requests as fast as responses arrive. Rejects if a status is not 200. */
export function applyLoad(load: Load): Promise<LoadResult> {
  return available ? runWrk(load) : runHammer(load);
}

// Leaves a core for the server on machines with few cores.
function threads(): number {
  return availableParallelism() > 2 ? 2 : 1;
}

function runHammer(load: Load): Promise<LoadResult> {
  if (load.script.name === "send") return hammer({ ...load, nextBody: () => sendBody({ kind: "answer" }) });
  const ids = readFileSync(load.script.ids, "utf8").trim().split("\n");
  let next = 0;
  return hammer({
    ...load,
    nextBody: () => {
      next = (next + 1) % ids.length;
      return getBody(ids[next] ?? "");
    },
  });
}

async function runWrk({ port, seconds, connections, signal, reconnect, script }: Load): Promise<LoadResult> {
  runs += 1;
  const file = fileURLToPath(new URL(`${script.name}.lua`, import.meta.url));
  const argument = script.name === "get" ? script.ids : `w${process.pid}-${runs}`;
  const flags = [`-t${threads()}`, `-c${connections}`, `-d${Math.ceil(seconds)}s`, "--timeout", "10s", "-s", file];
  if (reconnect === true) flags.push("-H", "Connection: close");
  const output = await run("wrk", [...flags, `http://127.0.0.1:${port}/`, "--", argument], signal);
  const refused = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(output);
  if (refused !== null) throw new Error(`wrk reported errors: ${refused[0]}`);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (!(perSecond > 0)) throw new Error(`The output of wrk has no request rate: ${output}`);
  return { perSecond, requests };
}

function run(command: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = trackChild(spawn(command, args, { signal, stdio: ["ignore", "pipe", "pipe"] }));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}: ${output}`)),
    );
  });
}
