import { createHash } from "node:crypto";
import { type Agent, agent } from "../engine/agent/agent.ts";
import { answerSchema } from "./answer-schema.ts";

const MAX_PARTY = 12;

/** Accepts `4` and “for 4 people”. An invalid answer makes the agent ask again. */
const partySize = answerSchema((answer) => {
  const size = Number(typeof answer === "string" ? answer.match(/\d+/)?.[0] : answer);
  if (!Number.isInteger(size) || size < 1 || size > MAX_PARTY)
    throw new Error(`a number from 1 to ${MAX_PARTY}, please`);
  return size;
});

const day = answerSchema((answer) => {
  const [text] = String(answer).match(/\d{4}-\d{2}-\d{2}/) ?? [];
  // A date that does not exist (2026-02-30) is parsed as another date, or as none.
  const date = new Date(`${text}T00:00:00Z`);
  if (text === undefined || Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) {
    throw new Error("a date like 2027-05-17, please");
  }
  return text;
});

/** Accepts a boolean too, for callers that answer with data. */
const yesOrNo = answerSchema((answer) => {
  if (typeof answer === "boolean") return answer;
  const text = String(answer).trim().toLowerCase();
  if (/^(y|yes|ok|sure|please)\b/.test(text)) return true;
  if (/^(n|no|not)\b/.test(text)) return false;
  throw new Error("yes or no, please");
});

/** A conversation: three questions, each checked, and a structured result. It may take days and any number of restarts. */
export const booking: Agent = agent({
  id: "booking",
  name: "Table booking",
  description: "Books a table: asks for how many and when, checks the answers, and ends with the booking as data.",
  version: "1.0.0",
  inputModes: ["text/plain", "application/json"],
  outputModes: ["application/json", "text/plain"],
  skills: [
    {
      id: "book-table",
      name: "Book a table",
      description:
        "Asks what it needs to know, one question at a time. The result is one artifact with the booking as JSON.",
      tags: ["demo", "multi-turn", "structured-output"],
      examples: ["I would like to book a table"],
    },
  ],
  async run(task) {
    const guests = await task.ask("For how many people?", { schema: partySize });
    const date = await task.ask("For which day? (YYYY-MM-DD)", { schema: day });
    const sure = await task.ask(`A table for ${guests} on ${date}. Shall I book it?`, { schema: yesOrNo });
    if (!sure) return task.reject("Not booked.");
    // Stands for the call to a booking system. The key is the same in every attempt, so a retry does not book twice.
    const reference = await task.step("reserve", ({ key }) =>
      createHash("sha256").update(key).digest("hex").slice(0, 8).toUpperCase(),
    );
    await task.artifact("booking", { description: "The confirmed booking" }).end({ reference, guests, date });
    await task.status(`Booked: table for ${guests} on ${date}, reference ${reference}.`);
  },
});
