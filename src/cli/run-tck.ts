import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { usageError } from "./cli-error.ts";
import type { CheckResult } from "./conformance-checks.ts";
import type { Session } from "./session.ts";

const RUNNER = "run_tck.py";

/** Runs the A2A project's kit, which somebody has put into a folder, on the agent's chosen interface. What it says goes to the side. */
export async function runTck(session: Session, folder: string): Promise<CheckResult> {
  const { context, signal } = session;
  const kit = resolve(context.cwd, folder);
  if (!existsSync(join(kit, RUNNER))) {
    throw usageError(`There is no ${RUNNER} in ${kit}.`, "git clone https://github.com/a2aproject/a2a-tck");
  }
  const { url } = (await session.connect()).interface;
  session.progress.say("Running the kit");
  const environment = join(kit, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const python = existsSync(environment) ? environment : (context.env["PYTHON"] ?? "python3");
  const child = spawn(python, [RUNNER, "--sut-url", url, "--category", "mandatory"], {
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
