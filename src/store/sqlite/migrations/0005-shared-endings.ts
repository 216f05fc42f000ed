import type { Migration } from "../../migrations.ts";

/**
 * Equal metadata of the events in one text of a log is stored once (`shared-ending.ts`). No table changes, and texts of earlier releases are read
 * as they are; but earlier releases cannot read the new texts, and must refuse the file.
 */
export const sharedEndings: Migration = { version: 5, sql: "" };
