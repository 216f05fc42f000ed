import { agent } from "palaver";

const THINGS = ["passport", "toothbrush", "charger", "umbrella", "socks", "book", "camera", "sunglasses"];

export default agent({
  name: "Packing list",
  description: "Writes a packing list for a trip.",
  version: "1.0.0",
  async *run(task) {
    const weather = await task.step("weather", () => weatherIn(task.text));
    const nights = await task.ask(`How many nights will you stay in ${task.text}?`);
    yield `${task.text}, ${nights} nights, ${weather}:`;
    for (const thing of THINGS) {
      await task.sleep(1000);
      yield ` ${thing}`;
    }
  },
});

async function weatherIn(city: string): Promise<string> {
  console.log(`Looking up the weather in ${city}`);
  return "sunny";
}
