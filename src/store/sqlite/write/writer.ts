import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DueTasks, DueWebhook, Outcome } from "../../contract.ts";
import { AgentIds } from "../agent-ids.ts";
import { openForWriting, setDurability } from "../connection.ts";
import { CounterDeltas } from "../counters.ts";
import type { Command } from "../row/packed.ts";
import { removeEmptyScopes, ScopeIds } from "../scope-ids.ts";
import { commitFailureOf, failureOf, type StoreFailure } from "../sqlite-error.ts";
import { Claimer, type ClaimRequest } from "./claimer.ts";
import { Compactor } from "./compactor.ts";
import { ContextWriter } from "./context-writer.ts";
import { JournalWriter } from "./journal-writer.ts";
import { LogFolder } from "./log-folder.ts";
import { OpenTasks } from "./open-tasks.ts";
import { Retainer } from "./retainer.ts";
import { TaskDeleter } from "./task-deleter.ts";
import { TaskWriter } from "./task-writer.ts";
import { type FileTotals, Totals } from "./totals.ts";
import { WebhookWriter } from "./webhook-writer.ts";
import type { CommitFault, WriterData } from "./writer-messages.ts";

export interface Committed {
  readonly outcomes: readonly Outcome[];
  /** Pairs: the index of an operation and the row it added to the hot log. */
  readonly rows: readonly number[];
  /** Whether finished tasks were deleted to make room. */
  readonly deleted: boolean;
}

/** Task numbers start at 1, so the probe's row belongs to no task. */
const NO_TASK = 0;
const PROBE_KEY = "probe";
/** As large as a typical message: a few bytes may fit on a disk that is too full for a message. */
const PROBE_VALUE = "x".repeat(128 * 1024);

/** A transaction failed; with the code `unknown` it may have been committed. */
export class WriteFailed extends Error {
  override readonly name = "WriteFailed";
  readonly failure: StoreFailure;

  constructor(failure: StoreFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The only writer of a file. Synchronous: it runs on its own thread. */
export class Writer {
  readonly #data: WriterData;
  readonly #database: DatabaseSync;
  readonly #tasks: TaskWriter;
  readonly #claimer: Claimer;
  readonly #open: OpenTasks;
  readonly #counters: CounterDeltas;
  readonly #totals: Totals;
  readonly #scopes: ScopeIds;
  readonly #deleter: TaskDeleter | undefined;
  readonly #retainer: Retainer;
  readonly #compactor: Compactor;
  readonly #addProbe: StatementSync;
  readonly #deleteProbe: StatementSync;
  /** Set when a COMMIT failed and its outcome is unknown. */
  #broken: StoreFailure | undefined;

  constructor(data: WriterData) {
    this.#data = data;
    const database = openForWriting(data);
    this.#database = database;
    this.#totals = new Totals(database);
    this.#counters = new CounterDeltas(database, (state, by) => this.#totals.change(state, by));
    this.#open = new OpenTasks(database);
    const scopes = new ScopeIds(database);
    this.#scopes = scopes;
    const folder = new LogFolder(database);
    const { retention } = data;
    const contexts = new ContextWriter(database);
    const journal = new JournalWriter(database);
    const webhooks = new WebhookWriter(database, journal);
    const isLimited = retention.maxTasks !== undefined || retention.maxAge !== undefined;
    this.#deleter = isLimited
      ? new TaskDeleter(database, { counters: this.#counters, open: this.#open, scopes, contexts })
      : undefined;
    this.#retainer = new Retainer(database, { retention, deleter: this.#deleter, folder });
    this.#compactor = new Compactor(database, { folder, open: this.#open });
    this.#tasks = new TaskWriter(database, {
      open: this.#open,
      scopes,
      agents: new AgentIds(database),
      counters: this.#counters,
      retainer: this.#retainer,
      webhooks,
      journal,
      contexts,
    });
    this.#claimer = new Claimer(database, { tasks: this.#tasks, webhooks });
    this.#addProbe = database.prepare("INSERT OR REPLACE INTO step (task, key, value) VALUES (?, ?, ?)");
    this.#deleteProbe = database.prepare("DELETE FROM step WHERE task = ? AND key = ?");
    // Release all leases and webhook claims: this process is the only owner, so their nodes are gone.
    this.#transaction(() => {
      database.exec(
        `UPDATE task SET node = NULL WHERE ended = 0 AND node IS NOT NULL;
         UPDATE webhook SET node = NULL WHERE state = 0 AND node IS NOT NULL;`,
      );
      if (isLimited) removeEmptyScopes(database);
    });
    if (data.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${data.maxPages}`);
    this.#relearn();
  }

  commit(commands: readonly Command[], living: readonly string[], fault?: CommitFault): Committed {
    const outcomes: Outcome[] = [];
    const rows: number[] = [];
    const deleted = this.#deleter?.deleted;
    this.#transaction(() => {
      for (const [index, command] of commands.entries()) {
        const { outcome, row } = this.#tasks.apply(command, living);
        outcomes.push(outcome);
        if (row > 0) rows.push(index, row);
      }
    }, fault);
    return { outcomes, rows, deleted: this.#deleter?.deleted !== deleted };
  }

  claimDue(request: ClaimRequest): DueTasks {
    return this.#transaction(() => this.#claimer.claimDue(request));
  }

  claimWebhooks(request: ClaimRequest): DueWebhook[] {
    return this.#transaction(() => this.#claimer.claimWebhooks(request));
  }

  leave(node: string): void {
    this.#transaction(() => this.#tasks.leave(node));
  }

  /**
   * Checks that a typical message can be written: commits a row that needs its own pages, then deletes it. This takes two transactions, because
   * pages that are freed in the same transaction are never written. The second one does not wait for the disk: the next probe would repeat it.
   */
  probe(): void {
    this.#transaction(() => this.#addProbe.run(NO_TASK, PROBE_KEY, PROBE_VALUE));
    setDurability(this.#database, "process");
    try {
      this.#transaction(() => this.#deleteProbe.run(NO_TASK, PROBE_KEY));
    } finally {
      setDurability(this.#database, this.#data.durability);
    }
  }

  sweep(now: number): number {
    return this.#transaction(() => this.#retainer.sweep(now));
  }

  totals(): FileTotals {
    return this.#transaction(() => this.#totals.read());
  }

  /** Number of tasks whose rows wait to leave the hot log. */
  get pending(): number {
    return this.#tasks.touched.size;
  }

  /** Moves rows out of the hot log. It does not wait for the disk: after a power cut the rows are still in the hot log. */
  compact(): [string, number][] {
    setDurability(this.#database, "process");
    try {
      return this.#transaction(() => this.#compactor.run(this.#tasks.touched));
    } finally {
      setDurability(this.#database, this.#data.durability);
    }
  }

  /** Tasks with rows in the hot log that were deleted since the last call, each with the number of its last row. */
  takeGone(): [string, number][] {
    const gone = this.#deleter?.gone ?? [];
    if (this.#deleter !== undefined) this.#deleter.gone = [];
    return gone;
  }

  close(): void {
    try {
      if (this.#broken === undefined) this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The file is locked or the disk is full: the checkpoint happens when the file is opened again.
    }
    this.#database.close();
  }

  #transaction<T>(work: () => T, fault?: CommitFault): T {
    if (this.#broken !== undefined) throw new WriteFailed(this.#broken);
    let result: T;
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      failOn(fault, "busy");
      result = work();
      this.#scopes.removeEmpty();
      this.#counters.flush();
      failOn(fault, "full");
    } catch (thrown) {
      this.#rollback();
      throw new WriteFailed(failureOf(thrown, this.#data.file));
    }
    try {
      failOn(fault, "io-lost");
      this.#database.exec("COMMIT");
      failOn(fault, "io-kept");
    } catch (thrown) {
      const failure = commitFailureOf(thrown, this.#data.file);
      if (failure.code === "unknown") this.#broken = failure;
      else this.#rollback();
      throw new WriteFailed(failure);
    }
    return result;
  }

  /** Rolls back, and discards everything that was remembered from the transaction. */
  #rollback(): void {
    try {
      // Some errors have already ended the transaction.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#relearn();
    } catch (thrown) {
      this.#broken = commitFailureOf(thrown, this.#data.file);
    }
  }

  #relearn(): void {
    this.#totals.forget();
    if (this.#deleter !== undefined) this.#deleter.gone = [];
    this.#tasks.reset();
    for (const task of this.#open.all()) if (task.node === undefined || task.ended) this.#tasks.touched.add(task);
  }
}

const FAULT_CODES: Readonly<Record<CommitFault, number>> = {
  busy: 5,
  full: 13,
  "io-lost": 10,
  "io-kept": 10,
  death: 0,
};

function failOn(fault: CommitFault | undefined, at: CommitFault): void {
  if (fault === at) throw Object.assign(new Error(`injected ${fault}`), { errcode: FAULT_CODES[fault] });
}
