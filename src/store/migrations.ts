/** One step from a schema to the next. Never changed once released: a mistake is mended by a further one. */
export interface Migration {
  /** The schema's version after it; each is one more than the one before. */
  readonly version: number;
  readonly sql: string;
}

/** The steps a database of this version still lacks, or `undefined` if it is newer than all we know. */
export function pendingMigrations(version: number, known: readonly Migration[]): readonly Migration[] | undefined {
  const newest = known.at(-1)?.version ?? 0;
  return version > newest ? undefined : known.filter((migration) => migration.version > version);
}
