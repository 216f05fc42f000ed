import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../architecture/imports.ts";

const MAIN = join(ROOT, "src", "cli", "main.ts");

/** Environment variables that would change what these commands do. */
const OWN_VARIABLES = [
  ...["PORT", "BIND_HOST", "PUBLIC_URL", "TRUSTED_PROXIES", "CORS_ORIGINS", "LOG_LEVEL", "DEBUG"],
  ...["A2A_CARD", "A2A_VERSIONS", "A2A_PREVIEW", "A2A_ASSUME_VERSION"],
  ...["API_KEYS_FILE", "JWT_ISSUER", "JWT_AUDIENCE", "JWKS_URL", "OIDC_URL", "OIDC_AUDIENCE"],
  ...["TLS_CERT", "TLS_KEY", "TLS_CLIENT_CA", "AUDIT_LOG"],
  ...["npm_command", "npm_lifecycle_event"],
];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  readonly pid: number;
  /** The output so far. */
  readonly stdout: () => string;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

/** Runs commands in a temporary folder; `close` removes the folder and ends the processes. */
export class CommandLine {
  readonly folder: string = mkdtempSync(join(tmpdir(), "palaver-cli-"));
  readonly #children = new Set<ChildProcess>();

  /** Runs a command until it ends. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.#start(args, env).ended;
  }

  /** Starts `palaver serve` and resolves when it listens. Uses a free port unless `args` name one. */
  async serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Serving> {
    return this.listen(["serve", ...args], env);
  }

  /** Starts any command that serves, and resolves when it listens. */
  async listen(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Serving> {
    const { child, ended, output } = this.#start(args, { PORT: "0", ...env });
    const url = await Promise.race([
      listening(child, output),
      ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
    ]);
    return {
      url,
      pid: child.pid ?? 0,
      stdout: () => output.stdout,
      kill(signal) {
        child.kill(signal);
        return ended;
      },
    };
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #start(args: readonly string[], env: Readonly<Record<string, string>>) {
    const inherited = Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.includes(name));
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    const ended = once(child, "close").then(([code]: (number | null)[]): Ended => {
      this.#children.delete(child);
      return { code: code ?? null, ...output };
    });
    return { child, ended, output };
  }
}

async function listening(child: ChildProcess, output: { readonly stdout: string }): Promise<string> {
  for (;;) {
    const url = /listening on (\S+)\n/.exec(output.stdout)?.[1];
    if (url !== undefined) return url;
    if (child.stdout === null) throw new Error("The output is not piped.");
    await once(child.stdout, "data");
  }
}
