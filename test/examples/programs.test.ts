import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { ask, sendParams } from "../e2e/rpc.ts";
import { freePort } from "./hosts.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describe("An example that mounts agents", () => {
  it.each(["mount-node.ts", "mount-express.ts", "mount-fastify.ts"])("runs as a program: %s", async (file) => {
    const port = await freePort();
    const child = spawn(process.execPath, [join(ROOT, "examples", file)], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(child);
    const ended = once(child, "close");
    const complaints = text(child.stderr);
    const base = `http://127.0.0.1:${port}/assistant`;
    while (!(await isUp(base))) if (child.exitCode !== null) throw new Error(await complaints);
    const { result } = await ask(`${base}/`, "SendMessage", sendParams("Ada"));
    expect(JSON.stringify(result)).toContain('Ada!"}');
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  it("serves its card without a port: mount-hono.ts", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "examples", "mount-hono.ts")]);
    expect(stdout).toContain("https://example.org/assistant/");
  });
});

async function isUp(base: string): Promise<boolean> {
  await sleep(20);
  const response = await fetch(`${base}/.well-known/agent-card.json`).catch(() => undefined);
  return response?.status === 200;
}
