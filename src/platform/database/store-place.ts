import { resolve } from "node:path";
import { type PostgresAddress, postgresAddress } from "../postgres-address.ts";
import { StartupError } from "../startup-error.ts";

/** A store that outlives its server. */
export type StorePlace =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly address: PostgresAddress };

/** Where a command finds stores. */
export interface PlaceEnvironment {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads `sqlite:FILE`, `postgres://…` or `postgres:`. Throws a {@link StartupError} that says what is expected. */
export function storePlace(spec: string, { cwd, env }: PlaceEnvironment): StorePlace {
  const address = postgresAddress(spec, env);
  if (address !== undefined) return { kind: "postgres", address };
  const file = /^sqlite:(?<file>.+)$/.exec(spec)?.groups?.["file"];
  if (file === undefined)
    throw new StartupError("usage", `The store must be sqlite:FILE or postgres://…, not ${JSON.stringify(spec)}.`);
  return { kind: "sqlite", file: resolve(cwd, file) };
}

/** The place as text for people, without a password. */
export function placeText(place: StorePlace): string {
  return place.kind === "sqlite" ? place.file : place.address.text;
}
