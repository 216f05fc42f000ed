import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { trackChild } from "./children.ts";
import { NotMeasurable } from "./scenario.ts";
import type { FromServer, ToServer, Usage } from "./servers/control.ts";

export interface ServerSpec {
  /** The name in tables. */
  readonly label: string;
  readonly script: "echo" | "frames" | "palaver" | "sdk" | "sdk-grpc" | "sse";
  /** Passed to the script as JSON. */
  readonly config?: object;
  /** The folder of the project whose server to run; absent: this one. */
  readonly clone?: string;
}

/** A server under test, in its own process, on a port of the loopback address. */
export interface ServerProcess {
  readonly label: string;
  readonly port: number;
  readonly pid: number;
  /** The description that the server sent when it started. */
  readonly about: string;
  /** The current resource use; with `collect`, after a full garbage collection. */
  usage(options: { readonly collect: boolean }): Promise<Usage>;
  stop(): Promise<void>;
}

/** The folder of this project. */
export const OWN_CLONE: string = fileURLToPath(new URL("..", import.meta.url));
const START_LIMIT_MS = 60_000;
const CONTROL_LIMIT_MS = 30_000;

export interface StartOptions {
  /** The folder for a CPU profile, written when the process stops. */
  readonly profile?: string | undefined;
}

/** The Node flags of the `palaver` command; it sets the second one itself, a second after its start. */
function ownFlags(spec: ServerSpec): readonly string[] {
  return spec.script === "palaver" ? ["--max-semi-space-size=16", "--no-allocation-site-pretenuring"] : [];
}

/** Rejects with {@link NotMeasurable} if the server reports a missing dependency. */
export async function startServer(spec: ServerSpec, options: StartOptions = {}): Promise<ServerProcess> {
  const script = join(spec.clone ?? OWN_CLONE, "bench", "servers", `${spec.script}.ts`);
  const child = trackChild(
    fork(script, [JSON.stringify(spec.config ?? {})], {
      execArgv: ["--expose-gc", "--no-warnings", ...ownFlags(spec), ...profileFlags(spec, options.profile)],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, NODE_ENV: "production" },
    }),
  );
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4000);
  });
  const gone = new Promise<never>((_resolve, reject) => {
    child.once("exit", (code, signal) => {
      reject(new Error(`${spec.label} stopped (${signal ?? `code ${code}`}). ${complaints}`.trim()));
    });
  });
  gone.catch(() => undefined);
  try {
    const ready = await within(
      Promise.race([next(child, "ready", "missing"), gone]),
      START_LIMIT_MS,
      `${spec.label} to start`,
    );
    if (ready.kind === "missing") throw new NotMeasurable(ready.reason);
    return handle(spec.label, child, { ...ready, gone, profiled: options.profile !== undefined });
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

interface Running {
  readonly port: number;
  readonly about: string;
  readonly gone: Promise<never>;
  readonly profiled: boolean;
}

function profileFlags({ label }: ServerSpec, folder: string | undefined): string[] {
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${join(folder, label.replaceAll(" ", "-"))}`];
}

function handle(label: string, child: ChildProcess, running: Running): ServerProcess {
  return {
    label,
    port: running.port,
    pid: child.pid ?? 0,
    about: running.about,
    async usage({ collect }) {
      const answer = next(child, "usage");
      tell(child, { kind: "usage", collect });
      const { usage } = await within(
        Promise.race([answer, running.gone]),
        CONTROL_LIMIT_MS,
        `${label} to tell what it uses`,
      );
      return usage;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      // A process whose channel closes ends by itself, and then writes its profile.
      if (running.profiled) child.disconnect();
      else child.kill("SIGKILL");
      await exited;
    },
  };
}

function tell(child: ChildProcess, message: ToServer): void {
  child.send(message);
}

function next<Kind extends FromServer["kind"]>(
  child: ChildProcess,
  ...kinds: Kind[]
): Promise<Extract<FromServer, { kind: Kind }>> {
  return new Promise((resolve) => {
    const listen = (message: FromServer) => {
      if (!isOneOf(message, kinds)) return;
      child.off("message", listen);
      resolve(message);
    };
    child.on("message", listen);
  });
}

function isOneOf<Kind extends FromServer["kind"]>(
  message: FromServer,
  kinds: Kind[],
): message is Extract<FromServer, { kind: Kind }> {
  return (kinds as string[]).includes(message.kind);
}

/** Rejects with the name of the work if it takes longer. */
export async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms / 1000} s for ${what}.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
