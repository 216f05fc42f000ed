import type { TaskId } from "../../../protocol/ids.ts";
import type {
  ClaimedTask,
  GetOptions,
  HistoryEntry,
  KnownTask,
  Position,
  TaskChange,
  TaskRecord,
} from "../../contract.ts";
import type { Connections } from "../connections.ts";
import { type ClaimedRow, claimedTaskOf } from "../row/claimed-task.ts";
import { scopeKey } from "../row/scope-key.ts";
import { type ChangeRow, changeOfRow } from "../row/task-change.ts";
import { historyEntryOf, recordOf, type TaskRow } from "../row/task-record.ts";
import { originalText, storableText } from "../row/text.ts";
import { recordQuery } from "./task-query.ts";

/** Reads single tasks. */
export class TaskReader {
  readonly #connections: Connections;
  readonly #schema: string;
  readonly #get: string;

  constructor(connections: Connections, schema: string) {
    this.#connections = connections;
    this.#schema = schema;
    const source = `(SELECT *, true AS included FROM ${schema}.task WHERE id = $1 AND ($2::uuid IS NULL OR scope = $2::uuid)) AS task`;
    this.#get = recordQuery(schema, source, { history: "$3", upTo: "$4", largeBytes: "$5", artifacts: "$6" });
  }

  /** See `Store.get`. */
  async get(id: TaskId, { scope, artifacts, history, upTo, largeBytes }: GetOptions): Promise<TaskRecord | undefined> {
    const [row] = await this.#connections.query(this.#get, [
      storableText(id),
      scope === undefined ? null : scopeKey(scope),
      history ?? null,
      upTo ?? null,
      largeBytes ?? null,
      artifacts,
    ]);
    return row === undefined ? undefined : recordOf(row as unknown as TaskRow); // Safe: the columns of the query.
  }

  /** See `Store.history`. */
  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    const rows = await this.#connections.query(
      `SELECT after, body, inbox FROM (
         SELECT *, sum(octet_length(body)) OVER (ORDER BY n) AS through FROM ${this.#schema}.message WHERE task = $1 AND n >= $2
       ) AS page WHERE n = $2 OR through <= $3 ORDER BY n`,
      [storableText(id), from, maxBytes],
    );
    // Safe cast: the columns of the query.
    return (rows as unknown as readonly { after: number; body: string; inbox: string | null }[]).map((row) =>
      historyEntryOf([row.after, row.body, row.inbox]),
    );
  }

  /** See `Store.positions`. */
  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    const rows = await this.#connections.query(
      `SELECT id, ${this.#schema}.last_seq_1(id, seq) AS seq, ended FROM ${this.#schema}.task WHERE id = ANY ($1)`,
      [ids.map(storableText)],
    );
    return rows.map(({ id, seq, ended }) => ({
      id: originalText(String(id)) as TaskId, // Safe: stored ids were task ids.
      seq: Number(seq),
      ended: ended === true,
    }));
  }

  /** See `Store.claimed`. */
  async claimed(ids: readonly TaskId[], maxBytes: number): Promise<readonly ClaimedTask[]> {
    const text = `SELECT * FROM ${this.#schema}.claimed_1($1, $2)`;
    const rows = await this.#connections.query(text, [ids.map(storableText), Math.floor(maxBytes)]);
    return (rows as unknown as readonly ClaimedRow[]).map(claimedTaskOf); // Safe: the columns of the function.
  }

  /** See `Store.changes`. */
  async changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    const rows = await this.#connections.query(`SELECT * FROM ${this.#schema}.changes_1($1, $2, $3, $4)`, [
      known.map(({ id }) => storableText(id)),
      known.map(({ after }) => after),
      known.map(({ maxBytes }) => maxBytes),
      messages,
    ]);
    const afters = new Map(known.map(({ id, after }) => [id, after]));
    // Safe cast: the columns of the function.
    return (rows as unknown as readonly ChangeRow[]).map((row) => changeOfRow(row, afters));
  }
}
