import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampled } from "../fixtures/budget.ts";
import { must, sendParams, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

/** Together they have more bytes than the server may use. */
const CONNECTIONS = sampled(80, 200);
const DECLARED = 10_000_000;
const SENT = Buffer.alloc(9_900_000, 0x20);

let bench: Workbench;
const sockets: Socket[] = [];
beforeEach(() => {
  bench = new Workbench();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await bench.close();
});

const serve = () =>
  bench.serveScript("server.ts", {
    env: { SETUP: JSON.stringify({ modules: [fixture("firehose.ts")] }) },
    nodeFlags: ["--max-semi-space-size=16"],
  });

interface Unfinished {
  readonly socket: Socket;
  /** True when all but the last 100,000 bytes were sent, or the server has closed the connection. */
  readonly isSent: () => boolean;
  readonly answer: () => string;
}

/** Sends 9.9 MB of a 10 MB body and then stops. */
async function sendMost({ url }: Serving, localAddress: string): Promise<Unfinished> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", localAddress });
  sockets.push(socket);
  let isOver = false;
  let answer = "";
  socket.on("error", () => {});
  socket.on("close", () => {
    isOver = true;
  });
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  await once(socket, "connect");
  const head = ["POST / HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", `Content-Length: ${DECLARED}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(SENT, () => {
    isOver = true;
  });
  return { socket, isSent: () => isOver, answer: () => answer };
}

/** Peak memory of the process in megabytes. */
function peakOf({ pid }: Serving): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000;
}

describe.skipIf(process.platform !== "linux")(`${CONNECTIONS} request bodies of 10 MB that stop after 9.9 MB`, () => {
  it.each([
    ["one address", () => "127.0.0.1"],
    [`${CONNECTIONS} addresses`, (index: number) => `127.0.1.${index + 1}`],
  ])(
    "from %s use less than 400 MB of memory, and other callers are answered",
    async (name, addressOf) => {
      const server = await serve();
      const before = peakOf(server);
      const bodies = await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, index) => sendMost(server, addressOf(index))),
      );
      await until(() => bodies.every(({ isSent }) => isSent()));
      const send = (megabytes: number) =>
        must<{ task: Task }>(
          server.url,
          "SendMessage",
          sendParams("never 0", {
            message: { metadata: { filler: "x".repeat(megabytes * 1_000_000) } },
            configuration: { returnImmediately: true },
          }),
        );
      await send(0);
      const peak = peakOf(server);
      const refused = bodies.filter(({ answer }) => answer().startsWith("HTTP/1.1 503 ")).length;
      const open = bodies.filter(({ socket }) => !socket.destroyed).length;
      process.stdout.write(
        `${name}: RSS ${before.toFixed(0)} MB before, peak ${peak.toFixed(0)} MB; 503: ${refused}, open: ${open}\n`,
      );
      expect(peak).toBeLessThan(400);
      expect(refused).toBeGreaterThan(0);
      expect(open).toBeGreaterThan(0);
      // A large body that arrives without a pause is accepted.
      await send(7);
    },
    120_000,
  );
});
