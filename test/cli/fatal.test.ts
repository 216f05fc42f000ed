import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";

const run = promisify(execFile);
const moduleUrl = (path: string): string => JSON.stringify(pathToFileURL(join(ROOT, "src", path)).href);

describe("a server whose store fails inside a commit", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-fatal-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("answers no request, prints the reason, and exits with 1", async () => {
    const script = join(folder, "server.mjs");
    writeFileSync(
      script,
      `
      import { agent, serve } from ${moduleUrl("index.ts")};
      import { openSqliteStore } from ${moduleUrl("store/sqlite/store.ts")};
      let failing = false;
      const store = await openSqliteStore({ file: "tasks.db", fault: () => (failing ? "io-lost" : undefined) });
      const echo = agent({ name: "Echo", description: "d", version: "1", run: async (task) => task.text });
      const { url } = await serve(echo, { port: 0, store });
      failing = true;
      const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };
      const response = await fetch(url + "/", {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
      });
      console.log("answered", response.status);
      `,
    );
    await expect(
      run(process.execPath, [script], { cwd: folder, timeout: 20_000, killSignal: "SIGKILL" }),
    ).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("only a restart"),
    });
  });
});
