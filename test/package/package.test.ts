import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Packed, packCopy } from "../../scripts/pack-copy.ts";
import { ROOT } from "../architecture/imports.ts";
import { IS_FULL } from "../fixtures/budget.ts";
import { checkProject, installProject, installTarball } from "./template-projects.ts";

const run = promisify(execFile);

/** All templates, and in `npm test` those whose packages are all installed here and that differ most. */
const ALL_TEMPLATES = ["minimal", "model", "tools", "express", "hono", "mcp", "team"];
const TEMPLATES = IS_FULL ? ALL_TEMPLATES : ["team"];

const AGENT = `
import { agent, type Agent } from "palaver";

const shouter: Agent = agent({
  name: "Shouter",
  description: "Says it louder.",
  version: "1.0.0",
  async run(task) {
    const text: string = task.text;
    return text.toUpperCase();
  },
});
export default shouter;
`;

const WRONG_AGENT = `
import { agent } from "palaver";
export default agent({ name: "Wrong", description: "Has no version.", async run(task) { return task.txt; } });
`;

/** Loads the page and its script. */
const CONSOLE_PROGRAM = `
import { agent, createServer } from "palaver";
const echo = agent({ id: "echo", name: "Echo", description: "d", version: "1", run: async () => "x" });
const server = createServer(echo, { port: 0, store: "memory:" });
const { url } = await server.listen();
const page = await fetch(url + "/console/");
const [, script] = /src="([^"]+)"/.exec(await page.text());
console.log(page.status, (await fetch(new URL(script, url + "/console/"))).status);
await server.close();
`;

/** Uses what needs packages that are not installed. */
const MISSING_PACKAGES_PROGRAM = `
import { agent, createServer } from "palaver";
import { acpAgent } from "palaver/acp";
import { mcpAgent } from "palaver/mcp";
try { acpAgent({ name: "Coder", command: process.execPath }); } catch (error) { console.log(error.message); }
await mcpAgent({ url: "http://127.0.0.1:1/mcp" }).catch((error) => console.log(error.message));
const echo = agent({ id: "echo", name: "Echo", description: "d", version: "1", run: async () => "x" });
const server = createServer(echo, { port: 0, store: "memory:", grpc: false });
const { url } = await server.listen();
const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
const answer = await fetch(url + "/mcp", { method: "POST", headers, body });
console.log(answer.status, (await answer.json()).error.message);
await server.close();
`;

describe("the packed package", () => {
  let packed: Packed;
  let folder: string;

  beforeAll(async () => {
    // `npm run typecheck` checks the types of the sources.
    packed = await packCopy({ checksTypes: IS_FULL });
    folder = await mkdtemp(join(tmpdir(), "palaver-installed-"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
    await installTarball({ folder, tarball: packed.tarball }, IS_FULL ? "npm" : "links");
  }, 180_000);

  afterAll(async () => {
    await packed?.remove();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it("contains the files that users need, and no others", () => {
    const others = packed.files.filter((path) => !/^(?:dist|docs|templates|deploy|console\/dist)\//.test(path));
    expect(others.sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "package.json"]);
    expect(packed.files).toContain("dist/index.js");
    expect(packed.files).toContain("dist/index.d.ts");
    expect(packed.files).toContain("docs/guide/writing-agents.md");
    expect(packed.files.filter((path) => /^(?!templates\/).*\.test\.|^docs\/adr/.test(path))).toEqual([]);
  });

  it("serves the console", async () => {
    expect(packed.files).toContain("console/dist/manifest.json");
    // It has paths of the machine that built the package.
    expect(packed.files).not.toContain("console/dist/inputs.json");
    await writeFile(join(folder, "console.mjs"), CONSOLE_PROGRAM);
    const { stdout } = await run(process.execPath, [join(folder, "console.mjs")]);
    expect(stdout.trim()).toBe("200 200");
  });

  it("leaves the repository's manifest unchanged, byte for byte", async () => {
    expect(await readFile(join(packed.clone, "package.json"))).toEqual(await readFile(join(ROOT, "package.json")));
  });

  it("has types that accept a valid agent and refuse an invalid one", async () => {
    await mkdir(join(folder, "types"), { recursive: true });
    await writeFile(join(folder, "types", "right.ts"), AGENT);
    await writeFile(join(folder, "types", "wrong.ts"), WRONG_AGENT);
    const errors = await typeErrors(join(folder, "types"), ["right.ts", "wrong.ts"]);
    expect(errors).toMatch(/version[\s\S]*txt|txt[\s\S]*version/);
    expect(errors.split("\n").filter((line) => /^\S/.test(line) && !line.startsWith("wrong.ts("))).toEqual([]);
  });

  describe("with projects of palaver init", () => {
    const palaver = (...args: readonly string[]) =>
      run(join(folder, "node_modules", ".bin", "palaver"), args, { cwd: folder });

    it("has all templates", async () => {
      const { stdout } = await palaver("init", "--list");
      const names = [...stdout.matchAll(/^(\w+) {2}/gm)].map(([, name]) => name);
      expect(names).toEqual(ALL_TEMPLATES);
    });

    it.each(TEMPLATES)("%s passes its types, its lint and its tests at once", async (template) => {
      await palaver("init", template, "--template", template);
      const project = { template, folder: join(folder, template), tarball: packed.tarball };
      await installProject(project, IS_FULL ? "npm" : "links");
      expect(await checkProject(project)).toMatch(/pass [2-9]\n.*fail 0\n/s);
    });
  });

  describe("with a store that is written outside", () => {
    let files: readonly string[];
    const program = (file: string) => run(process.execPath, [join(folder, "json-store", file)]);

    beforeAll(async () => {
      const source = join(ROOT, "examples", "json-store");
      await cp(source, join(folder, "json-store"), { recursive: true });
      files = await readdir(source);
    });

    it("needs nothing but the published entry points", async () => {
      const imported = new Set<string>();
      for (const file of files) {
        const source = await readFile(join(folder, "json-store", file), "utf8");
        for (const [, from = ""] of source.matchAll(/from "([^"]+)"/g)) imported.add(from);
      }
      const outside = [...imported].filter((from) => !from.startsWith("./")).sort();
      expect(outside).toEqual(["node:assert/strict", "palaver", "palaver/client", "palaver/store", "palaver/testing"]);
    });

    it("accepts its types", async () => {
      expect(await typeErrors(join(folder, "json-store"), files)).toBe("");
    });

    it("runs the contract suite against it", async () => {
      const { stdout } = await program("check.ts");
      expect(stdout).toMatch(/^(\d\d+) of \1 cases passed\n$/);
    });

    it("serves an agent with it", async () => {
      expect((await program("serve.ts")).stdout).toBe("HELLO\n");
    });
  });

  it("names the packages for MCP and ACP that are not installed", async () => {
    await writeFile(join(folder, "missing.mjs"), MISSING_PACKAGES_PROGRAM);
    const { stdout } = await run("node", ["missing.mjs"], { cwd: folder });
    expect(stdout.trimEnd().split("\n")).toEqual([
      "acpAgent() needs the package @agentclientprotocol/sdk, which is not installed. Run `npm install @agentclientprotocol/sdk`.",
      expect.stringMatching(
        /^Agents made of MCP servers need the package @modelcontextprotocol\/client, which is not installed. Run/,
      ),
      expect.stringMatching(/^503 MCP is not served: the package @modelcontextprotocol\/server is not installed. Run/),
    ]);
    const palaver = join(folder, "node_modules", ".bin", "palaver");
    await expect(run(palaver, ["mcp"], { cwd: folder })).rejects.toMatchObject({
      stderr: expect.stringMatching(
        /the package @modelcontextprotocol\/server is not installed.*npx -y -p palaver -p @modelcontextprotocol\/server palaver mcp/,
      ),
    });
  });

  it("serves an agent with its command, says that gRPC needs a package that is not installed, and stops on a signal", async () => {
    await writeFile(join(folder, "agent.ts"), AGENT);
    const child = spawn(join(folder, "node_modules", ".bin", "palaver"), ["serve", "agent.ts", "--port", "0"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    try {
      const url = await listeningAt(child);
      const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };
      const response = await fetch(`${url}/`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
      });
      expect(await response.json()).toMatchObject({
        result: { task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "HELLO" }] }] } },
      });
      expect(errors).toContain("gRPC is not served: the package @bufbuild/protobuf is not installed");
      expect(await (await fetch(`${url}/.well-known/agent-card.json`)).text()).not.toContain("GRPC");
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});

/** What the compiler prints about these files of a folder; empty if it accepts them. */
async function typeErrors(folder: string, files: readonly string[]): Promise<string> {
  const typeRoots = [join(ROOT, "node_modules", "@types")];
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ["node"],
    typeRoots,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return run("tsc", ["--singleThreaded", "--project", folder], { cwd: folder }).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

async function listeningAt(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("The child's output is not piped.");
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("The server ended before it listened.");
}
