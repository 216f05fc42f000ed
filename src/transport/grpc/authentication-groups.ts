/** Agent ids, each with the id of the first agent whose callers are authenticated in the same way. */
export type AuthenticationGroups = ReadonlyMap<string, string>;
