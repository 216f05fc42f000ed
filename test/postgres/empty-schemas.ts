import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";

/** Schemas for tests. Emptying one that an earlier test has used is faster than creating another one. */
export class EmptySchemas {
  readonly #client: PostgresClient;
  #used: string[] = [];
  #free: string[] = [];
  #count = 0;
  readonly #prefix = `test_${crypto.randomUUID().slice(0, 8)}`;

  private constructor(client: PostgresClient) {
    this.#client = client;
  }

  static async connect(url: string): Promise<EmptySchemas> {
    const client = (await loadPostgresDriver()).createClient({ url, name: "test", queryTimeout: 0 });
    await client.connect();
    return new EmptySchemas(client);
  }

  /** The name of a schema that has no tables, or only empty ones. */
  async next(): Promise<string> {
    const free = this.#free.pop();
    const schema = free ?? this.reserve();
    if (free !== undefined) await this.empty(free);
    this.#used.push(schema);
    return schema;
  }

  /** The name of a new schema that is not used again by `next`. */
  reserve(): string {
    return `${this.#prefix}_${++this.#count}`;
  }

  /** The stores of the test are closed: their schemas may be used again. */
  releaseAll(): void {
    this.#free.push(...this.#used);
    this.#used = [];
  }

  /** Deletes all rows. */
  async empty(schema: string): Promise<void> {
    const { rows } = await this.#client.query(
      "SELECT format('DELETE FROM %I.%I', schemaname, tablename) AS text FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migration'",
      [schema],
    );
    // Faster than TRUNCATE, which creates new files.
    await this.#client.query(rows.map(({ text }) => String(text)).join("; "));
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
