import { agent } from "palaver";

export const weather = agent({
  name: "Weather",
  description: "Knows the weather of a city.",
  version: "0.0.1",
  // Stands for a request to a weather service: a step is not repeated after a crash.
  run: async (task) => task.step("look", () => `Weather in ${task.text}: 24 °C and sunny.`),
});

export const events = agent({
  name: "Events",
  description: "Knows what is on in a city.",
  version: "0.0.1",
  run: async (task) => task.step("look", () => `Events in ${task.text}: an open-air concert.`),
});

export const booker = agent({
  name: "Booker",
  description: "Books a trip, after it has asked.",
  version: "0.0.1",
  async run(task) {
    const city = task.text.replace(/^book\s+/i, "");
    // The question goes to whoever called the desk, and the answer comes back here.
    const nights = Number(await task.ask(`How many nights in ${city}?`));
    if (!Number.isInteger(nights) || nights < 1) return "Nothing was booked.";
    return `Booked ${nights} nights in ${city}.`;
  },
});
