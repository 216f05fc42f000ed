import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../../../internal/make-folder.ts";
import { bootName, isOwnerAlive, markedProcesses, ownerName, signal, startTimeOf } from "./process-table.ts";

/** Milliseconds between two looks at processes that were killed, and how often to look. */
const PAUSE = 10;
const LOOKS = 200;

/** A process that was started, as kept in a file until it has ended. */
interface ProcessRecord {
  readonly pid: number;
  readonly startTime: string;
  readonly boot: string;
}

/** Where the records are kept if no folder is given: only this user can read it, and all servers of the user share it. */
export function defaultStateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "palaver", "processes");
}

/**
 * The processes that this server has started, in a folder: `<folder>/<owner>/<pid>.json`. The file of a process is removed when it has ended, so what is
 * left of a server that was killed are its orphans.
 */
export class ProcessRecords {
  readonly #folder: string;
  readonly #own: string;
  readonly owner: string = ownerName();

  constructor(folder: string) {
    this.#folder = folder;
    this.#own = join(folder, this.owner);
  }

  /** Records a process right after its start. Throws the system's error if the folder cannot be written. */
  add(pid: number): void {
    const startTime = startTimeOf(pid);
    // It has ended already.
    if (startTime === undefined) return;
    makeFolder(this.#own);
    const record: ProcessRecord = { pid, startTime, boot: bootName() };
    writeFileSync(this.#path(pid), JSON.stringify(record), { mode: 0o600 });
  }

  remove(pid: number): void {
    rmSync(this.#path(pid), { force: true });
  }

  /** Checks that the folder can be written. Throws the system's error. */
  prepare(): void {
    makeFolder(this.#own);
  }

  /** Removes the folder of this server, if it has no more processes. */
  close(): void {
    removeFolder(this.#own);
  }

  /**
   * Kills the processes of servers that are no longer alive, with SIGKILL, and waits until they are gone. Returns how many there were. A process is
   * killed only if its start time is the recorded one, so another program that has got the same process id since then is never killed.
   */
  async killOrphans(): Promise<number> {
    const killed = new Set<number>();
    for (const owner of foldersIn(this.#folder)) {
      if (isOwnerAlive(owner) !== false) continue;
      const folder = join(this.#folder, owner);
      for (const file of filesIn(folder)) {
        const record = readRecord(join(folder, file));
        if (record !== undefined && isSameProcess(record)) {
          // The process first: it is the one whose identity is known. Then its group.
          signal(record.pid, "SIGKILL");
          signal(-record.pid, "SIGKILL");
          killed.add(record.pid);
        }
        rmSync(join(folder, file), { force: true });
      }
      removeFolder(folder);
    }
    // Processes that left their group, and those whose server was killed before it had recorded them.
    for (const { pid, owner } of await markedProcesses()) {
      if (isOwnerAlive(owner) === false && signal(pid, "SIGKILL")) killed.add(pid);
    }
    await untilGone([...killed]);
    return killed.size;
  }

  #path(pid: number): string {
    return join(this.#own, `${pid}.json`);
  }
}

function isSameProcess({ pid, startTime, boot }: ProcessRecord): boolean {
  return boot === bootName() && startTimeOf(pid) === startTime;
}

/** Waits until none of the processes is alive, at most 2 seconds: a process in an uninterruptible system call ends later. */
async function untilGone(pids: readonly number[]): Promise<void> {
  for (let look = 0; look < LOOKS && pids.some((pid) => startTimeOf(pid) !== undefined); look += 1) await sleep(PAUSE);
}

function readRecord(path: string): ProcessRecord | undefined {
  try {
    const { pid, startTime, boot } = JSON.parse(readFileSync(path, "utf8")) as Partial<Record<string, unknown>>;
    const isValid = Number.isSafeInteger(pid) && Number(pid) > 1;
    if (!isValid || typeof startTime !== "string" || typeof boot !== "string") return undefined;
    return { pid: Number(pid), startTime, boot };
  } catch {
    // The server was killed while it wrote the file; the marker finds the process.
    return undefined;
  }
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or not there.
  }
}
