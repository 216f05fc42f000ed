import { closeSync, openSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import type { Logger } from "../../internal/logger.ts";
import type { Audit, AuditEntry } from "../../transport/audit.ts";
import { messageOf, StartupError } from "../startup-error.ts";

/** One call or rejected call, as the audit log records it. */
export interface AuditRecord extends AuditEntry {
  /** When it was answered, in ISO 8601. */
  readonly time: string;
}

/** Where calls are recorded. */
export interface AuditLog {
  /** Never throws and never waits. */
  readonly record: Audit;
  /** Writes the remaining records, if possible. */
  close(): Promise<void>;
}

/** Bytes that may wait for the disk. Further records are dropped and counted. */
const MAX_WAITING = 4_194_304;
/** Milliseconds between a failed write and the next attempt. */
const RETRY_AFTER = 1000;

/** Opens the audit log: a file, or a function. `undefined`: no audit log. Throws a {@link StartupError} if the file cannot be written. */
export function openAuditLog(
  audit: string | ((record: AuditRecord) => void) | undefined,
  logger: Logger,
): AuditLog | undefined {
  if (audit === undefined) return undefined;
  if (typeof audit === "string") {
    requireWritable(audit);
    return new AuditFile(audit, logger);
  }
  return {
    record: (entry) => {
      try {
        audit({ time: new Date().toISOString(), ...entry });
      } catch (error) {
        logger.warn("The audit function failed", { error });
      }
    },
    close: async () => {},
  };
}

/** Fails at start-up: later write errors do not stop calls, so they would stay unnoticed. */
function requireWritable(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw new StartupError("failed", `The audit log ${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * A file of JSON lines. It is reopened for each batch, so it may be rotated at any time. Calls never wait for it and never fail because of
 * it.
 */
class AuditFile implements AuditLog {
  readonly #file: string;
  readonly #logger: Logger;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  /** The last line may be incomplete. */
  #isTorn = false;
  #retryAt = 0;

  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  readonly record: Audit = (entry) => {
    const line = `${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > MAX_WAITING) {
      this.#lost += 1;
      this.#fail(new Error("The disk is slower than the calls."));
    } else {
      this.#waiting.push(line);
      this.#waitingBytes += bytes;
    }
    if (performance.now() >= this.#retryAt) this.#writing ??= this.#write();
  };

  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#waiting.length > 0 || this.#lost > 0) await this.#writeOnce();
  }

  /** Writes until nothing waits or a write fails. After a failure, the next record tries again. */
  async #write(): Promise<void> {
    // Outside of the recorded call; records of the same moment are written together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && (await this.#writeOnce())) {}
    this.#writing = undefined;
  }

  /** A failed write may have stored a part of the text, so the next one starts on a new line and repeats the records. */
  async #writeOnce(): Promise<boolean> {
    const lines = this.#waiting;
    const lost = this.#lost;
    const lostRecord = lost === 0 ? "" : `${JSON.stringify({ time: new Date().toISOString(), lost })}\n`;
    const text = (this.#isTorn ? "\n" : "") + lostRecord + lines.join("");
    this.#waiting = [];
    try {
      await appendFile(this.#file, text, { mode: 0o600 });
      this.#waitingBytes -= bytesOf(lines);
      this.#lost -= lost;
      this.#isFailing = false;
      this.#isTorn = false;
      return true;
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting];
      this.#isTorn = true;
      this.#retryAt = performance.now() + RETRY_AFTER;
      this.#fail(error);
      return false;
    }
  }

  /** Logs only the first failure in a row. */
  #fail(error: unknown): void {
    if (!this.#isFailing)
      this.#logger.error("The audit log cannot be written; calls continue", { file: this.#file, error });
    this.#isFailing = true;
  }
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
}
