import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../testing/temporary-folder.ts";
import { ProcessRecords } from "./process-records.ts";
import { bootName, ownerName, startTimeOf } from "./process-table.ts";

/** The name of a server that has been killed: it had this process's id, and started earlier. */
const deadOwner = (): string => ownerName().replace(/\d+$/, "1");

async function withSleeper(work: (pid: number) => Promise<void>): Promise<void> {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  try {
    await work(child.pid ?? 0);
  } finally {
    child.kill("SIGKILL");
  }
}

test.each([
  ["kills a recorded process of a dead server", { owner: deadOwner, killed: 1 }],
  ["leaves a process of a server that is alive", { owner: ownerName, killed: 0 }],
  ["leaves a process of another container", { owner: () => `999${deadOwner()}`, killed: 0 }],
])("a start %s", async (_what, { owner, killed }) => {
  await using folder = await temporaryFolder();
  await withSleeper(async (pid) => {
    mkdirSync(folder.file(owner()));
    const record = { pid, startTime: startTimeOf(pid), boot: bootName() };
    writeFileSync(folder.file(`${owner()}/${pid}.json`), JSON.stringify(record));
    // Other servers of this machine may have left processes too.
    expect(await new ProcessRecords(folder.path).killOrphans()).toBeGreaterThanOrEqual(killed);
    expect(startTimeOf(pid) === undefined).toBe(killed === 1);
  });
});

test.each([
  ["started at another time", { startTime: "1" }],
  ["was recorded before the last boot", { boot: "another" }],
])("a start does not kill a process whose id is recorded but that %s", async (_what, other) => {
  await using folder = await temporaryFolder();
  await withSleeper(async (pid) => {
    mkdirSync(folder.file(deadOwner()));
    const record = { pid, startTime: startTimeOf(pid), boot: bootName(), ...other };
    writeFileSync(folder.file(`${deadOwner()}/${pid}.json`), JSON.stringify(record));
    writeFileSync(folder.file(`${deadOwner()}/7.json`), "{broken");
    await new ProcessRecords(folder.path).killOrphans();
    expect(startTimeOf(pid)).toBeDefined();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
