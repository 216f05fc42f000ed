import { agent } from "palaver";
import { z } from "zod";

const decision = z.object({ book: z.boolean() });

export default agent({
  name: "Trip planner",
  description: "Plans a weekend trip and books it if you like it.",
  version: "1.0.0",
  async *run(task) {
    const forecast = await task.step("forecast", () => forecastFor(task.text));
    yield `${task.text}: ${forecast}. `;
    const { book } = await task.ask("Shall I book it?", { schema: decision });
    yield book ? "Booked." : "Maybe another time.";
  },
});

async function forecastFor(city: string): Promise<string> {
  return `${city.length + 10} °C and sunny`;
}
