import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { get, request } from "node:https";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findServer } from "../../scripts/ensure-nats.mjs";
import { agent, createServer, type Server } from "../../src/index.ts";
import { createAuthority } from "../../src/platform/test/certificate-authority.ts";
import { ROOT } from "../fixtures/postgres-server.ts";
import { rawCall, SERVICE_1_0 } from "../grpc/call.ts";
import { framed, message, number, text } from "../grpc/protobuf.ts";

const program = findServer("nginx", "NGINX_PATH");
const authority = createAuthority("Agents");
const tls = { ca: authority.cert, servername: "agents.example.org" };

let folder: string;
let nginx: ChildProcess | undefined;
let servers: Server[] = [];
let port: number;
let release: () => void = () => {};
const gate = new Promise<void>((resolve) => {
  release = resolve;
});

const two = agent({
  name: "Two parts",
  description: "Writes one part, waits, and writes another.",
  version: "1",
  async run(task) {
    if (task.text !== "wait") return `You are ${task.caller.id}`;
    await task.artifact("a").write("first");
    await task.flush();
    await gate;
    return "second";
  },
});

/** The files of `deploy`, with the addresses of this test. */
async function configure(addresses: readonly string[]): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "palaver-nginx-"));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "temp"));
  const { key, cert } = authority.issue({ commonName: "agents.example.org" });
  writeFileSync(join(folder, "site.key"), key);
  writeFileSync(join(folder, "site.pem"), cert);
  writeFileSync(join(folder, "palaver-proxy.conf"), readFileSync(join(ROOT, "deploy/palaver-proxy.conf")));
  const site = readFileSync(join(ROOT, "deploy/nginx.conf"), "utf8")
    .replaceAll(/server 10\.0\.0\.1(\d):3000/g, (_, node: string) => `server ${addresses[Number(node) - 1]}`)
    .replace("listen 443 ssl http2", `listen 127.0.0.1:${port} ssl http2`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/site.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/site.key;`)
    .replace("/etc/nginx/palaver-proxy.conf", `${folder}/palaver-proxy.conf`);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/temp/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 256; }
     http { access_log off; ${places.join(" ")}\n${site}\n}`,
  );
}

async function freePort(): Promise<number> {
  const probe = createSocketServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The status of a GET through the proxy; `undefined` if it does not listen. */
function statusOf(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(
      { ...tls, host: "127.0.0.1", port, path, headers: { host: "agents.example.org", ...headers }, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    ).on("error", () => resolve(undefined));
  });
}

describe.skipIf(program === undefined)(
  `the settings of deploy/nginx.conf${program === undefined ? " (skipped: there is no nginx; set NGINX_PATH)" : ""}`,
  () => {
    beforeAll(async () => {
      port = await freePort();
      servers = Array.from({ length: 3 }, () =>
        createServer(two, {
          ...{ port: 0, store: "memory:", publicUrl: "https://agents.example.org", trustedProxies: ["loopback"] },
          ...{ drainTimeout: 0, logger: { debug() {}, info() {}, warn() {}, error() {} } },
        }),
      );
      const urls = await Promise.all(servers.map(async (server) => new URL((await server.listen()).url).host));
      await configure(urls);
      nginx = spawn(program ?? "", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
      while ((await statusOf("/healthz")) === undefined) {
        if (nginx.exitCode !== null) throw new Error(readFileSync(join(folder, "error.log"), "utf8"));
        await sleep(20);
      }
    });
    afterAll(async () => {
      release();
      if (nginx !== undefined && nginx.exitCode === null) {
        const exited = once(nginx, "exit");
        nginx.kill("SIGTERM");
        await exited;
      }
      await Promise.all(servers.map((server) => server.close()));
      rmSync(folder, { recursive: true, force: true });
    });

    test("are accepted by nginx -t", () => {
      execFileSync(program ?? "", ["-t", "-q", "-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "pipe" });
    });

    test("deny the paths of operators, however they are written, and pass everything else", async () => {
      for (const path of [
        "/console",
        "/console/",
        "/console/x",
        "/metrics",
        "/operator/v1/tasks",
        "/%6detrics",
        "//metrics",
      ])
        expect([path, await statusOf(path)]).toEqual([path, 404]);
      for (const path of ["/healthz", "/readyz", "/.well-known/agent-card.json"])
        expect(await statusOf(path)).toBe(200);
    });

    test("pass events of a stream on at once, before the task goes on", async () => {
      const body = JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage" },
        params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "wait" }] } },
      });
      const headers = { host: "agents.example.org", "content-type": "application/json", "a2a-version": "1.0" };
      const call = request({ ...tls, host: "127.0.0.1", port, method: "POST", path: "/", headers, agent: false });
      call.end(body);
      const [response] = (await once(call, "response")) as [IncomingMessage]; // Safe: the argument of the event.
      expect(response.headers["content-type"]).toBe("text/event-stream");
      let received = "";
      for await (const chunk of response.setEncoding("utf8")) {
        received += String(chunk);
        // The second part follows only after the first was received: nothing is kept back.
        if (received.includes("first")) release();
      }
      expect(received).toContain("second");
      expect(received.indexOf("first")).toBeLessThan(received.indexOf("second"));
    });

    test("pass gRPC calls and streams on", async () => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { ...tls });
      try {
        const body = framed(message(2, text(1, "m2"), number(4, 1), message(5, text(1, "who?"))));
        const answer = await rawCall(session, { path: `/${SERVICE_1_0}/SendMessage`, body });
        expect(answer).toMatchObject({ grpc: 0 });
        expect(answer.body.toString()).toContain("You are anonymous");
        const stream = await rawCall(session, { path: `/${SERVICE_1_0}/SendStreamingMessage`, body });
        expect(stream).toMatchObject({ grpc: 0 });
        expect(stream.body.toString()).toContain("You are anonymous");
      } finally {
        session.destroy();
      }
    });

    test("cards name the public address", async () => {
      const card = await new Promise<string>((resolve, reject) => {
        get(
          {
            ...tls,
            host: "127.0.0.1",
            port,
            path: "/.well-known/agent-card.json",
            headers: { host: "agents.example.org" },
            agent: false,
          },
          (response) => void readText(response).then(resolve, reject),
        ).on("error", reject);
      });
      expect(card).toContain("https://agents.example.org");
    });
  },
);
