import type { Row } from "../../internal/postgres/driver.ts";

/** Runs one statement. Rejects with a `StoreError`. */
export type Query = (text: string, values: unknown[]) => Promise<readonly Row[]>;
