import type { DatabaseSync, StatementSync } from "node:sqlite";
import { ArtifactFold } from "../../../protocol/fold.ts";
import { readEvent } from "../../../protocol/serial.ts";
import { LogPage, splitEntries } from "../row/log-text.ts";
import { sqliteCode } from "../sqlite-error.ts";

/** Computes the artifacts of finished tasks from their logs. */
export class LogFolder {
  readonly #inline: StatementSync;
  readonly #segments: StatementSync;
  readonly #size: StatementSync;

  constructor(database: DatabaseSync) {
    this.#inline = database.prepare("SELECT log FROM task WHERE pk = ?");
    this.#segments = database.prepare("SELECT first, body FROM segment WHERE task = ? ORDER BY last");
    this.#size = database.prepare(
      `SELECT coalesce((SELECT octet_length(log) FROM task WHERE pk = ?1), 0)
         + coalesce((SELECT sum(octet_length(body)) FROM segment WHERE task = ?1), 0) AS bytes`,
    );
  }

  /** Bytes of the log without the rows that are still in the hot log. */
  sizeOf(pk: number): number {
    return Number(this.#size.get(pk)?.["bytes"]);
  }

  /** All artifacts as a JSON array; `undefined` if a log entry is not an event. */
  fold(pk: number): string | undefined {
    try {
      return this.#fold(pk);
    } catch (thrown) {
      if (sqliteCode(thrown) !== undefined) throw thrown;
      return undefined;
    }
  }

  #fold(pk: number): string {
    const fold = new ArtifactFold();
    const add = (text: unknown): void => {
      const page = new LogPage(0, Number.POSITIVE_INFINITY);
      splitEntries(page, 1, String(text));
      for (const entry of page.entries) fold.add(readEvent(entry.body));
    };
    const inline = this.#inline.get(pk)?.["log"];
    if (typeof inline === "string") add(inline);
    for (const segment of this.#segments.iterate(pk)) add(segment["body"]);
    return JSON.stringify(fold.artifacts());
  }
}
