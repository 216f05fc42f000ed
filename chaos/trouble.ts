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

/** Makes every trouble of the plan when its time has come; one that takes long delays those that follow. */
export async function makeTrouble(troubles: readonly Trouble[], processes: TroubledProcesses): Promise<void> {
  const begun = Date.now();
  for (const trouble of troubles) {
    await sleep(Math.max(0, begun + trouble.at - Date.now()));
    await processes.supervisor.revive();
    await make(trouble, processes);
  }
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

/** The other troubles go on meanwhile. */
function suspend(child: ChildProcess | undefined, time: number): void {
  child?.kill("SIGSTOP");
  setTimeout(() => child?.kill("SIGCONT"), time);
}
