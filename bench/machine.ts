import { availableParallelism, cpus, totalmem } from "node:os";

/** What the figures were measured on, in words. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} cores (${model}), ${memory} GB, ${process.platform} ${process.arch}, Node ${process.version}`;
}
