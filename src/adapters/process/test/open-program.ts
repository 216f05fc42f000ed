import { mkdirSync, readdirSync } from "node:fs";
import type { Agent } from "../../../engine/agent/agent.ts";
import type { Task } from "../../../protocol/task.ts";
import { EngineHarness, type HarnessOptions } from "../../../testing/engine-harness.ts";
import { temporaryFolder } from "../../../testing/temporary-folder.ts";
import { markedProcesses } from "../children/process-table.ts";
import { processAgent } from "../process-agent.ts";
import type { ProcessAgentOptions } from "../process-options.ts";

/** An engine with one agent that runs a program in a temporary folder. */
export interface OpenProgram extends AsyncDisposable {
  readonly harness: EngineHarness;
  readonly agent: Agent;
  /** The working directory of the program. */
  readonly cwd: string;
  file(name: string): string;
  /** Process ids of programs that still run, of all agents of this process. */
  running(): Promise<readonly number[]>;
  /** The records of running programs. */
  records(): readonly string[];
}

export interface OpenProgramOptions extends Partial<ProcessAgentOptions> {
  readonly harness?: Partial<HarnessOptions>;
}

/** Serves a bash script as an agent. */
export function openScript(script: string, options: OpenProgramOptions = {}): Promise<OpenProgram> {
  return openProgram("bash", ["-c", script], options);
}

export async function openProgram(
  command: string,
  args: readonly string[],
  { harness: harnessOptions = {}, ...options }: OpenProgramOptions = {},
): Promise<OpenProgram> {
  const folder = await temporaryFolder();
  const [cwd, stateFolder] = [folder.file("work"), folder.file("state")];
  mkdirSync(cwd);
  const agent = processAgent({ name: "Program", command, args, cwd, stateFolder, grace: 200, ...options });
  const harness = await EngineHarness.open({ agents: agent, ...harnessOptions });
  return {
    harness,
    agent,
    cwd,
    file: (name) => `${cwd}/${name}`,
    running: async () => (await markedProcesses()).filter(isOwn).map(({ pid }) => pid),
    records: () => filesBelow(stateFolder).filter((name) => name.endsWith(".json")),
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await agent.close?.();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function isOwn({ owner }: { readonly owner: string }): boolean {
  return owner.split("-")[1] === String(process.pid);
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

/** The text of an artifact. */
export function artifactText({ artifacts = [] }: Task, name = "result"): string | undefined {
  return artifacts
    .find((artifact) => artifact.name === name)
    ?.parts.map(({ text = "" }) => text)
    .join("");
}

/** The text of the status message. */
export function statusText({ status }: Task): string {
  return status.message?.parts.map(({ text = "" }) => text).join("") ?? "";
}
