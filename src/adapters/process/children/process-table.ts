import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

/** The environment variable that marks the processes of an agent, and all processes that they start. Its value is `<owner>:<run>`. */
export const MARKER = "PALAVER_PROCESS";

/** In `/proc/<pid>/stat`, the index of the start time among the fields after the name of the program. */
const START_TIME_INDEX = 19;

/**
 * When a process started, in a form that is unique for its process id until the next boot. `undefined`: there is no such process, or it has ended
 * and only waits for its parent.
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    return process.platform === "linux" ? startTimeInProc(pid) : startTimeByPs(pid);
  } catch {
    return undefined;
  }
}

function startTimeInProc(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program, in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[START_TIME_INDEX];
}

function startTimeByPs(pid: number): string | undefined {
  const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  const [state = "", ...time] = line.split(/\s+/);
  return line === "" || state.startsWith("Z") ? undefined : time.join("_").replaceAll(":", ".");
}

/** Identifies this process among all processes of the machine, also those of other containers, until the next boot. */
export function ownerName(): string {
  return [processSpace(), process.pid, startTimeOf(process.pid) ?? "0"].join("-");
}

/** Whether the process with this {@link ownerName} is alive; `undefined` if it belongs to another container, whose processes cannot be seen. */
export function isOwnerAlive(owner: string): boolean | undefined {
  const [space, pid, ...time] = owner.split("-");
  if (space !== processSpace()) return undefined;
  return startTimeOf(Number(pid)) === time.join("-");
}

/** The name of the set of processes that share process ids: on Linux, a container has its own. */
function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
  } catch {
    return "0";
  }
}

/** A name of the current boot: after another boot, process ids and start times mean other processes. */
export function bootName(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
}

/** A running process with its {@link MARKER}. */
export interface MarkedProcess {
  readonly pid: number;
  readonly owner: string;
  readonly run: string;
}

/**
 * All processes of this user that carry the marker, whichever process group they have moved to. Linux only; elsewhere the list is empty. A program
 * that removes the variable from the environment of its children is not found.
 */
export async function markedProcesses(): Promise<readonly MarkedProcess[]> {
  const names = await readdir("/proc").catch(() => []);
  const found: MarkedProcess[] = [];
  for (const [index, name] of names.filter((entry) => /^\d+$/.test(entry)).entries()) {
    // These files are in memory: reading one takes about 10 µs, and far longer through the thread pool.
    if (index % BATCH === BATCH - 1) await nextTurn();
    const mark = markOf(name);
    if (mark !== undefined) found.push(mark);
  }
  return found;
}

/** How many processes are looked at before other work gets its turn. */
const BATCH = 64;

function markOf(pid: string): MarkedProcess | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    const entry = variables.find((variable) => variable.startsWith(`${MARKER}=`));
    const [owner, run] = entry?.slice(MARKER.length + 1).split(":") ?? [];
    return owner === undefined || run === undefined ? undefined : { pid: Number(pid), owner, run };
  } catch {
    // It belongs to another user, or has ended meanwhile.
    return undefined;
  }
}

/** Sends a signal to a process, or with a negative id to a process group. False if there is none that this user may signal. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
