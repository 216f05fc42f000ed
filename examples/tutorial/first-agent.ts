import { agent } from "palaver";

const THINGS = ["passport", "toothbrush", "charger", "umbrella"];

export default agent({
  name: "Packing list",
  description: "Writes a packing list for a trip.",
  version: "1.0.0",
  async *run(task) {
    yield `For ${task.text}:`;
    for (const thing of THINGS) {
      await task.sleep(500);
      yield ` ${thing}`;
    }
  },
});
