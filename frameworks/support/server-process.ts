import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const MAIN = join(ROOT, "node_modules", "palaver", "dist", "cli", "main.js");

/** A Palaver server in its own process, with a store that outlives it. */
export class ServerProcess implements AsyncDisposable {
  readonly #module: string;
  readonly #scriptUrl: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "palaver-framework-"));
  #child: ChildProcess | undefined;

  constructor(module: string, scriptUrl: string) {
    this.#module = join(ROOT, module);
    this.#scriptUrl = scriptUrl;
  }

  /** Resolves with the server's URL. */
  async start(): Promise<string> {
    const child = spawn(process.execPath, [MAIN, "serve", this.#module, "--port", "0", "--store", "sqlite:tasks.db"], {
      cwd: this.#folder,
      env: { ...process.env, SCRIPT_URL: this.#scriptUrl },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    let output = "";
    return new Promise((resolve, reject) => {
      const read = (text: string): void => {
        output += text;
        const url = /listening on (\S+)/.exec(output)?.[1];
        if (url !== undefined) resolve(url);
      };
      child.stdout?.setEncoding("utf8").on("data", read);
      child.stderr?.setEncoding("utf8").on("data", read);
      child.once("exit", () => reject(new Error(`The server ended before it listened: ${output}`)));
    });
  }

  async kill(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
