import { availableParallelism, cpus, totalmem } from "node:os";

/** A description of the machine of the measurement. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} cores (${model}), ${memory} GB, ${process.platform} ${process.arch}, Node ${process.version}`;
}

const SAMPLE_MS = 500;

/** The share (0–1) of all cores that is in use now. Before a measurement it shows the load of other programs. */
export async function busyShare(): Promise<number> {
  const before = cpuTimes();
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const after = cpuTimes();
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

function cpuTimes(): { readonly idle: number; readonly all: number } {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}
