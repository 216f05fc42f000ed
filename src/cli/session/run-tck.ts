import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { usageError } from "../cli-error.ts";
import { agentReference, referenceKey } from "../options/agent-reference.ts";
import type { CheckResult } from "./conformance-checks.ts";
import type { Session } from "./session.ts";

/** The entrance of the kit, by which its folder is recognised. */
const RUNNER = "run_tck.py";

/** Runs the A2A project's test kit (TCK) from a folder against the agent. Its output goes to standard error. */
export async function runTck(session: Session, folder: string): Promise<CheckResult> {
  const { context, signal } = session;
  const kit = resolve(context.cwd, folder);
  if (!existsSync(join(kit, RUNNER))) {
    throw usageError(`${kit} does not contain ${RUNNER}.`, "git clone https://github.com/a2aproject/a2a-tck");
  }
  const { url } = (await session.connect()).interface;
  const asked = questions(readFileSync(join(kit, RUNNER), "utf8"), { url, card: cardRoot(session) ?? url });
  session.progress.say("Running the test kit");
  const environment = join(kit, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const python = existsSync(environment) ? environment : (context.env["PYTHON"] ?? "python3");
  const child = spawn(python, [RUNNER, ...asked], {
    cwd: kit,
    env: context.env,
    signal,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void context.stderr.write(text));
  }
  const code = await new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  const outcome = code === 0 ? "pass" : "fail";
  return {
    id: "tck",
    title: "the mandatory tests of the A2A project's kit",
    outcome,
    ...(code !== 0 && { detail: `exit code ${code}` }),
  };
}

interface Subject {
  /** The URL of the interface in use. */
  readonly url: string;
  /** The base URL of the card. */
  readonly card: string;
}

/** Kits up to 0.3 take an interface URL and a test category; kits from 1.0 on take the card's base URL and a requirement level. */
function questions(runner: string, { url, card }: Subject): readonly string[] {
  return runner.includes('"--sut-host"')
    ? ["--sut-host", card, "--level", "must"]
    : ["--sut-url", url, "--category", "mandatory"];
}

/** `undefined` if the card is a file. */
function cardRoot({ settings, context }: Session): string | undefined {
  if (settings.agentCard === undefined) return undefined;
  const reference = agentReference(settings.agentCard, context.cwd);
  return reference.kind === "url" ? referenceKey(reference) : undefined;
}
