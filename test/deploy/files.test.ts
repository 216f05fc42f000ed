import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveCommand } from "../../src/cli/commands/serve.ts";
import { ROOT } from "../fixtures/postgres-server.ts";

const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");
const manifest = JSON.parse(read("package.json"));
const dockerfile = read("Dockerfile").replaceAll(/\\\n\s*/g, " ");
const instructions = dockerfile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const argumentsOf = (name: string): string[] =>
  instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1).trim());
const FILES = readdirSync(join(ROOT, "deploy"));
const deploy = new Map(FILES.map((name) => [name, read(`deploy/${name}`)]));
/** A JSON array of texts: the exec form of an instruction. */
const words = (text: string | undefined): string[] => JSON.parse(text ?? "[]");

/** The flags of `palaver serve`, with the placeholder of their value. */
const flags = new Map(serveCommand().options.map(({ long, required }) => [long, required]));

/** Fails for a flag that `palaver serve` does not have, or that lacks its value. */
function checkServe(line: readonly string[]): void {
  expect(line[0]).toBe("serve");
  for (let index = 1; index < line.length; index++) {
    const word = line[index] ?? "";
    if (!word.startsWith("--")) continue;
    expect([...flags.keys()]).toContain(word);
    if (flags.get(word) === true) {
      index += 1;
      expect(line[index]).toMatch(/^[^-]/);
    }
  }
}

test("the image has a supported Node, does not run as root, and starts what the package contains", () => {
  const major = /\d+/.exec(manifest.engines.node)?.[0];
  for (const image of argumentsOf("FROM")) expect(image).toMatch(new RegExp(`^node:${major}-slim( AS build)?$`));
  const last = instructions.findLastIndex((line) => line.startsWith("FROM "));
  const run = instructions.slice(last).map((line) => line.split(" ")[0]);
  expect(argumentsOf("USER")).toEqual(["node"]);
  // Nothing is installed after the user has changed.
  expect(run.indexOf("USER")).toBeGreaterThan(run.lastIndexOf("RUN"));
  const [entry] = argumentsOf("ENTRYPOINT");
  expect(words(entry)).toEqual(["node", "node_modules/palaver/dist/cli/main.js"]);
  // `src/cli/main.ts` is the program of the package, which is compiled into `dist`.
  expect(manifest.bin.palaver).toBe("./src/cli/main.ts");
  expect(manifest.files).toContain("dist");
  checkServe(words(argumentsOf("CMD")[0]));
});

test("the image installs optional packages in the versions that the package supports", () => {
  const installed = [...dockerfile.matchAll(/ (@?[a-z][a-z0-9./-]*)@(\d+)(?= |$)/g)].map(([, name, version]) => [
    name,
    version,
  ]);
  expect(installed.map(([name]) => name)).toEqual(["pg", "@nats-io/transport-node", "@bufbuild/protobuf"]);
  for (const [name = "", version] of installed)
    expect(manifest.peerDependencies[name]).toMatch(new RegExp(`^\\^${version}\\.`));
});

test("the health check of the image asks the address that the server listens on", async () => {
  const health = argumentsOf("HEALTHCHECK")[0] ?? "";
  const [program, flag, code] = words(/CMD (\[.*\])$/.exec(health)?.[1]);
  expect([program, flag]).toEqual(["node", "-e"]);
  expect(code).toContain("/healthz");
  expect(argumentsOf("ENV").join(" ")).toContain("PORT=3000");
  expect(argumentsOf("EXPOSE")).toEqual(["3000"]);
  // The code is a program: it runs against a server.
  const { agent, createServer } = await import("../../src/index.ts");
  const one = agent({ name: "One", description: "One.", version: "1", run: async () => "1" });
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const server = createServer(one, { port: 0, store: "memory:", logger });
  const { execFile } = await import("node:child_process");
  const exitCode = (port: number): Promise<number> =>
    new Promise((resolve) => {
      execFile(process.execPath, [flag ?? "", code ?? ""], { env: { ...process.env, PORT: `${port}` } }, (error) =>
        resolve(error === null ? 0 : Number(error.code)),
      );
    });
  const { port } = new URL((await server.listen()).url);
  expect(await exitCode(Number(port))).toBe(0);
  await server.close();
  expect(await exitCode(Number(port))).toBe(1);
});

test("nothing that the build needs is left out of the context, and no secret or output is in it", () => {
  const ignored = read(".dockerignore").split("\n");
  for (const name of ["src", "scripts", "console", "proto", "docs", "package.json", "package-lock.json"]) {
    expect(existsSync(join(ROOT, name))).toBe(true);
    expect(ignored).not.toContain(name);
  }
  for (const name of [".git", ".palaver", "**/node_modules", "**/dist"]) expect(ignored).toContain(name);
});

test("compose starts three nodes with flags that exist, and mounts files that exist", () => {
  const compose = deploy.get("compose.yaml") ?? "";
  checkServe(words(/command: (\[.*\])/.exec(compose)?.[1]));
  expect(compose.match(/^ {2}node-\d: \*node$/gm)).toHaveLength(3);
  for (const [, file = ""] of compose.matchAll(/- \.\/([^:]+):/g)) expect(FILES).toContain(file);
  const balancer = deploy.get("nginx-compose.conf") ?? "";
  expect(balancer.match(/server node-\d:3000/g)).toHaveLength(6);
  const seconds = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
  expect(seconds(compose, /stop_grace_period: (\d+)s/)).toBeGreaterThan(seconds(compose, /"--drain-timeout", "(\d+)"/));
});

test("the Kubernetes example has flags that exist, real probes, a budget and a rolling update", () => {
  const text = deploy.get("kubernetes.yaml") ?? "";
  const list = /args:\n((?: +- .*\n)+)/.exec(text)?.[1] ?? "";
  const line = [...list.matchAll(/- "?([^"\n]+)"?/g)].map(([, word = ""]) => word);
  checkServe(line);
  const probes = [...text.matchAll(/(\w+)Probe:\n +httpGet: \{ path: (\S+), port: http \}/g)];
  expect(probes.map(([, kind, path]) => [kind, path])).toEqual([
    ["readiness", "/readyz"],
    ["liveness", "/healthz"],
    ["startup", "/healthz"],
  ]);
  expect(text).toContain("kind: PodDisruptionBudget");
  expect(text).toContain("maxUnavailable: 0");
  const drain = Number(line[line.indexOf("--drain-timeout") + 1]);
  expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1])).toBeGreaterThan(drain + 5);
});

test("the systemd unit starts the program with flags that exist, and waits for its drain timeout", () => {
  const unit = deploy.get("palaver.service") ?? "";
  const [, program = "", line = ""] = /^ExecStart=\/usr\/bin\/node (\S+) (.*)$/m.exec(unit) ?? [];
  expect(program).toBe("node_modules/palaver/dist/cli/main.js");
  checkServe(line.split(" "));
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(
    Number(/--drain-timeout (\d+)/.exec(line)?.[1]),
  );
});

test("both proxies deny the paths of operators, and keep no session on one node", () => {
  const nginx = deploy.get("palaver-proxy.conf") ?? "";
  const caddy = deploy.get("Caddyfile") ?? "";
  for (const path of ["console", "metrics", "operator"]) {
    expect(nginx).toMatch(
      new RegExp(`location ~ \\^/\\([a-z|]*\\b${path}\\b[a-z|]*\\)\\(/\\|\\$\\) \\{\\s+return 404;`),
    );
    expect(caddy).toContain(`/${path} /${path}/*`);
  }
  for (const text of [deploy.get("nginx.conf") ?? "", deploy.get("nginx-compose.conf") ?? ""])
    expect(text.replaceAll(/#.*/g, "")).not.toMatch(/ip_hash|sticky|hash /);
  expect(caddy.match(/flush_interval -1/g)).toHaveLength(2);
});
