import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** A tick of /proc, in microseconds. */
const TICK = 10_000;

/** Processor time of a process and its children, living and ended, in microseconds. Linux only; else 0. */
export function treeMicroseconds(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + treeMicroseconds(child), ownMicroseconds(pid));
}

/** Processor time of the whole machine since it started, in microseconds. Linux only; else 0. */
export function machineMicroseconds(): number {
  try {
    const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
      readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? ""
    )
      .split(/\s+/)
      .map(Number);
    return (user + nice + system + irq + softirq) * TICK;
  } catch {
    return 0;
  }
}

/** The part of all processors that was in use, 0 to 1, between two calls of {@link machineMicroseconds}. */
export function busyShare(microseconds: number, seconds: number): number {
  return microseconds / (seconds * 1e6 * cpus().length);
}

function ownMicroseconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    // Its own time, and that of children that have ended.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK, 0);
  } catch {
    return 0; // It has ended.
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
