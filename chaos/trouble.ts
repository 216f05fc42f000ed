import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Trouble } from "./plan.ts";
import type { Supervisor } from "./supervisor.ts";
import type { UnreliableProxy } from "./unreliable-proxy.ts";

export interface TroubledProcesses {
  readonly supervisor: Supervisor;
  readonly proxy: UnreliableProxy;
  readonly clients: readonly ChildProcess[];
  readonly receiver: ChildProcess;
}

/**
 * Runs every disturbance of the plan at its time, and resolves at the end of the plan. The duration of a disturbance,
 * such as a restart, does not count: between two kills the server has the full time of the plan.
 */
export async function makeTrouble(
  troubles: readonly Trouble[],
  processes: TroubledProcesses,
  duration: number,
): Promise<void> {
  let time = 0;
  for (const trouble of troubles) {
    await sleep(trouble.at - time);
    time = trouble.at;
    await processes.supervisor.revive();
    await make(trouble, processes);
  }
  await sleep(Math.max(0, duration - time));
}

async function make({ do: what, time, pick }: Trouble, processes: TroubledProcesses): Promise<void> {
  const { supervisor, proxy, clients, receiver } = processes;
  switch (what) {
    case "kill":
      return supervisor.kill();
    case "term":
      return supervisor.restart();
    case "stop":
      return supervisor.suspend(time);
    case "stop-client":
      return suspend(clients[pick % clients.length], time);
    case "stop-receiver":
      return suspend(receiver, time);
    case "cut":
      return proxy.cutAll();
    case "stall":
      return proxy.stallAll(time);
  }
}

/** The other disturbances continue meanwhile. */
function suspend(child: ChildProcess | undefined, time: number): void {
  child?.kill("SIGSTOP");
  setTimeout(() => child?.kill("SIGCONT"), time);
}
