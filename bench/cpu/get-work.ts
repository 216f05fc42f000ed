import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ECHO } from "../contenders.ts";
import { checkGet, makeTasks } from "../load/finished-tasks.ts";
import { applyLoad } from "../load/wrk.ts";
import type { CpuWork } from "./work.ts";

/** Callers that poll: gets of the last 1,000 tasks. */
export const getRecent: CpuWork = {
  ...getWork(() => 1_000),
  name: "get-recent",
  title: "Get of 1,000 recent tasks",
  limit: 1.5,
};

/** More tasks than any cache of the server holds. */
export const getMany: CpuWork = {
  ...getWork((quick) => (quick ? 10_000 : 100_000)),
  name: "get-many",
  title: "Get of 100,000 tasks (quick: 10,000)",
  limit: 1.9,
};

function getWork(count: (quick: boolean) => number): Pick<CpuWork, "unit" | "bare" | "prepare"> {
  return {
    unit: "get",
    bare: ECHO,
    async prepare(bench, server) {
      const ids = server.label === ECHO.label ? ["any"] : await makeTasks(server, count(bench.quick));
      if (server.label !== ECHO.label) await checkGet(server, ids[ids.length >> 1] ?? "");
      const file = join(bench.folder(), "ids");
      writeFileSync(file, ids.join("\n"));
      return (seconds, measured) =>
        measured(async () => {
          const script = { name: "get", ids: file } as const;
          const load = { port: server.port, seconds, connections: 32, signal: bench.signal, script };
          return (await applyLoad(load)).requests;
        });
    },
  };
}
