import type { Agent } from "palaver";
import { type Model, modelAgent, scriptedModel, textOfMessage } from "palaver/models";
import { createTools, type Payments } from "./tools.ts";

/** The agent with a model and payments of your choice; tests pass their own. */
export function createClerk(model: Model | string, payments: Payments): Agent {
  return modelAgent({
    name: "Refund clerk",
    description: "Looks up orders and pays back. Large amounts need an approval.",
    version: "0.0.1",
    model,
    tools: createTools(payments),
    instructions: "Pay back what the customer asks for, if an order and an amount are given. Be brief.",
    skills: [
      { id: "refund", name: "Refund", description: "Pays back.", tags: ["orders"], examples: ["refund order A1, 80"] },
    ],
  });
}

/** Stands for a language model until you choose one: see README.md. */
const placeholder = scriptedModel((messages) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: `The result: ${textOfMessage(last)}` };
  const [, order, amount] = /order (\w+)\D+(\d+)/i.exec(textOfMessage(last)) ?? [];
  if (order === undefined) return { text: "Which order, and how much? For example: refund order A1, 80" };
  return { calls: [{ name: "refund", input: { order, amount: Number(amount) } }] };
});

/** Pays nothing. */
const payments: Payments = { refund: async (order) => `R-${order}` };

export default createClerk(process.env["MODEL"] ?? placeholder, payments);
