import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { type Run, Terminal } from "../cli/terminal.ts";
import { IS_FULL } from "../fixtures/budget.ts";
import { must, sendParams } from "./rpc.ts";
import { type Serving, Workbench } from "./workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const serve = (file: string): Promise<Serving> => bench.serve(["--demo", "--store", `sqlite:${file}`]);

/** Creates an empty store. */
async function createFile(file: string): Promise<void> {
  await (await openSqliteStore({ file: bench.path(file) })).close();
}

/** Tries to serve the file in this process, and in a full run in a process of its own. Returns the error output. */
async function refusal(file: string): Promise<string> {
  const args = ["serve", "--port", "0", "--demo", "--store", `sqlite:${bench.path(file)}`];
  const { code, stdout, stderr } = await (IS_FULL ? bench.run(args) : inThisProcess(args));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  return stderr;
}

async function inThisProcess(args: readonly string[]): Promise<Run> {
  const terminal = new Terminal();
  terminal.open();
  try {
    return await terminal.run(args);
  } finally {
    terminal.close();
  }
}

const inUseBy = ({ pid }: Serving): RegExp => new RegExp(`(in use by|locked by another program.*) process ${pid}\\b`);

describe("a store file with several names", () => {
  it("is refused to a second process that uses a symbolic or a hard link created while the first runs", async () => {
    const owner = await serve("tasks.db");
    symlinkSync(bench.path("tasks.db"), bench.path("symbolic.db"));
    expect(await refusal("symbolic.db")).toMatch(inUseBy(owner));
    linkSync(bench.path("tasks.db"), bench.path("hard.db"));
    expect(await refusal("hard.db")).toMatch(inUseBy(owner));
    await must(owner.url, "SendMessage", sendParams("Hello"));
    expect(await must(owner.url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
  });

  it("is refused under either name if the first process uses a hard link, also after that was deleted", async () => {
    await createFile("tasks.db");
    linkSync(bench.path("tasks.db"), bench.path("other.db"));
    const owner = await serve("other.db");
    expect(await refusal("tasks.db")).toMatch(inUseBy(owner));
    expect(await refusal("other.db")).toMatch(inUseBy(owner));
    unlinkSync(bench.path("other.db"));
    expect(await refusal("tasks.db")).toMatch(/in use|locked by another program/);
  });

  it("can be opened after the first process was killed", async () => {
    const owner = await serve("tasks.db");
    linkSync(bench.path("tasks.db"), bench.path("other.db"));
    await owner.kill("SIGKILL");
    const store = await openSqliteStore({ file: bench.path("tasks.db") });
    await store.health();
    await store.close();
  });

  it.for([
    ["tasks.db", "apart/mounted db"],
    ["apart/mounted db", "tasks.db"],
  ] as const)(
    "is refused if one of the processes uses a bind mount of the file (%s, then %s)",
    async ([first, second], context) => {
      mkdirSync(bench.path("apart"));
      await createFile("tasks.db");
      writeFileSync(bench.path("apart/mounted db"), "");
      if (!mounted("tasks.db", "apart/mounted db")) context.skip("this process may not mount a file system");
      try {
        const owner = await serve(first);
        expect(await refusal(second)).toMatch(inUseBy(owner));
        await bench.stop();
      } finally {
        execFileSync("umount", [bench.path("apart/mounted db")]);
      }
    },
  );
});

/** Bind-mounts one file over another; returns false if this process may not mount. */
function mounted(file: string, over: string): boolean {
  try {
    execFileSync("mount", ["--bind", bench.path(file), bench.path(over)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
