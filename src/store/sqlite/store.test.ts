import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";
import { openSqliteStore } from "./store.ts";

let folder: string;
let files = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "palaver-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

describe("the SQLite store", () => {
  for (const { name, run } of storeContract) {
    test(name, () => run((setup) => openSqliteStore({ file: newFile(), durability: "process", ...setup })));
  }

  test("lists and counts as a plain filter and sort would", () =>
    checkListAgainstModel(() => openSqliteStore({ file: newFile(), durability: "process" }), 20));
});
