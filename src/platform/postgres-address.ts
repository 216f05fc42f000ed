import { StartupError } from "./startup-error.ts";

const DEFAULT_SCHEMA = "palaver";

/** Where a PostgreSQL store is. */
export interface PostgresAddress {
  readonly url: string;
  readonly schema: string;
  /** Without the password. */
  readonly text: string;
}

/**
 * Reads `postgres://user:password@host:port/database?schema=NAME`. `postgres:` alone: the address in `DATABASE_URL`. `undefined` if the text names
 * another kind of store. Throws a {@link StartupError} that does not contain the password.
 */
export function postgresAddress(
  spec: string,
  environment: Readonly<Record<string, string | undefined>>,
): PostgresAddress | undefined {
  if (!/^postgres(?:ql)?:/.test(spec)) return undefined;
  const isAlone = /^postgres(?:ql)?:$/.test(spec);
  const text = isAlone ? environment["DATABASE_URL"] : spec;
  if (text === undefined || text === "")
    throw new StartupError("usage", "The store postgres: needs the address of the database in DATABASE_URL.");
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new StartupError(
      "usage",
      `${isAlone ? "DATABASE_URL" : "The store"} is not a valid address. Write postgres://USER:PASSWORD@HOST:PORT/DATABASE, and encode special characters such as @ as %40.`,
    );
  }
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  url.searchParams.delete("schema");
  return { url: url.href, schema, text: `PostgreSQL at ${url.host}${url.pathname}, schema ${schema}` };
}
