import { loadPostgresDriver, type PostgresClient, type Row } from "../../src/internal/postgres/driver.ts";
import type { OpenPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { type PostgresServer, startPostgres } from "../../test/fixtures/postgres-server.ts";

export const SCHEMA = "chaos";

/**
 * Triggers that record, independently of the functions that check epochs, which process wrote what: each process has a name of its own in
 * `application_name`. A write is wrong unless its process has claimed the task with the epoch that the task has at that moment.
 */
const AUDIT = `
  CREATE TABLE ${SCHEMA}.audit_claim (task text, epoch bigint, process text);
  CREATE TABLE ${SCHEMA}.audit_write (task text, epoch bigint, process text, what text, at timestamptz DEFAULT clock_timestamp());
  CREATE FUNCTION ${SCHEMA}.audit_task() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' OR NEW.epoch <> OLD.epoch THEN
      INSERT INTO ${SCHEMA}.audit_claim VALUES (NEW.id, NEW.epoch, current_setting('application_name'));
    ELSIF NEW.runner <> OLD.runner OR NEW.state <> OLD.state OR NEW.seq <> OLD.seq THEN
      INSERT INTO ${SCHEMA}.audit_write VALUES (NEW.id, NEW.epoch, current_setting('application_name'), 'head at ' || NEW.seq);
    END IF;
    RETURN NULL;
  END $$;
  CREATE FUNCTION ${SCHEMA}.audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO ${SCHEMA}.audit_write SELECT id, epoch, current_setting('application_name'), 'events from ' || NEW.first
      FROM ${SCHEMA}.task WHERE id = NEW.task;
    RETURN NULL;
  END $$;
  CREATE TRIGGER audit AFTER INSERT OR UPDATE ON ${SCHEMA}.task FOR EACH ROW EXECUTE FUNCTION ${SCHEMA}.audit_task();
  CREATE TRIGGER audit AFTER INSERT ON ${SCHEMA}.log FOR EACH ROW EXECUTE FUNCTION ${SCHEMA}.audit_log();
`;

/** The database of a run, with the connections of an administrator. */
export class ChaosDatabase {
  readonly #server: PostgresServer;
  #admin: PostgresClient | undefined;

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  /** Starts the database and creates the tables, with the audit. */
  static async start(): Promise<ChaosDatabase> {
    const database = new ChaosDatabase(await startPostgres());
    await (await database.openStore()).close();
    await database.query(AUDIT);
    return database;
  }

  get port(): number {
    return this.#server.port;
  }

  /** The address for a process with this name, through a proxy at this port. */
  urlFor(process: string, port: number): string {
    const url = new URL(this.#server.url);
    url.port = String(port);
    url.searchParams.set("application_name", process);
    url.searchParams.set("schema", SCHEMA);
    return url.href;
  }

  openStore(): Promise<OpenPostgresStore> {
    return openPostgresStore({ url: this.#server.url, schema: SCHEMA });
  }

  /** Ends some connections of a process. */
  async terminate(process: string, isEnded: () => boolean): Promise<void> {
    const rows = await this.query("SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY pid", [
      process,
    ]);
    for (const { pid } of rows) if (isEnded()) await this.query("SELECT pg_terminate_backend($1)", [pid]);
  }

  crash(): Promise<void> {
    return this.#server.crash();
  }

  restart(): Promise<void> {
    return this.#server.restart();
  }

  async stop(): Promise<void> {
    await this.#admin?.end().catch(() => {}); // It may have crashed.
    await this.#server.stop();
  }

  /** Writes of processes that did not hold the lease, as text. */
  async strayWrites(): Promise<readonly string[]> {
    const rows = await this.query(`
      SELECT process || ' wrote ' || what || ' of ' || task || ' in epoch ' || epoch AS text FROM ${SCHEMA}.audit_write AS written
      WHERE NOT EXISTS (SELECT FROM ${SCHEMA}.audit_claim AS claimed
        WHERE claimed.task = written.task AND claimed.epoch = written.epoch AND claimed.process = written.process)
      ORDER BY at LIMIT 100`);
    return rows.map(({ text }) => String(text));
  }

  /** How many writes and claims the audit has seen. */
  async audited(): Promise<{ readonly writes: number; readonly claims: number }> {
    const [row] = await this.query(
      `SELECT (SELECT count(*) FROM ${SCHEMA}.audit_write) AS writes, (SELECT count(*) FROM ${SCHEMA}.audit_claim) AS claims`,
    );
    return { writes: Number(row?.["writes"]), claims: Number(row?.["claims"]) };
  }

  async query(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    if (this.#admin === undefined) {
      const client = (await loadPostgresDriver()).createClient({
        url: this.#server.url,
        name: "chaos",
        queryTimeout: 60_000,
      });
      const forget = (): void => {
        if (this.#admin === client) this.#admin = undefined;
      };
      client.on("error", forget);
      client.on("end", forget);
      await client.connect();
      this.#admin = client;
    }
    return (await this.#admin.query(text, values)).rows;
  }
}
