/** One step from a schema to the next. Never change a released migration: add another one. */
export interface Migration {
  /** The schema version after this migration: one more than the version before. */
  readonly version: number;
  readonly sql: string;
}

/** The migrations that a database of this version needs; `undefined` if the database is newer than this release. */
export function pendingMigrations(version: number, known: readonly Migration[]): readonly Migration[] | undefined {
  const newest = known.at(-1)?.version ?? 0;
  return version > newest ? undefined : known.filter((migration) => migration.version > version);
}
