import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, agent } from "palaver";

/** Writes words and states until the file that `TICKING_STOP` names exists. Every tick is a step, so a restart goes on where it was. */
export const ticking: Agent = agent({
  ...{ id: "ticking", name: "Ticking", description: "Writes until it is told to stop.", version: "1.0.0" },
  async run(task) {
    for (let tick = 1; ; tick += 1) {
      const isStopped = await task.step("tick", async () => {
        await sleep(Number(process.env["TICKING_PAUSE"] ?? 20));
        return existsSync(process.env["TICKING_STOP"] ?? "");
      });
      if (isStopped) return;
      await task.write(`${tick} `);
      if (tick % 5 === 0) await task.status(`Tick ${tick}`);
    }
  },
});
