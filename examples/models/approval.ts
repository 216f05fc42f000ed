import { modelAgent, textOfMessage, tool } from "palaver/models";
import { z } from "zod";
import { modelOr } from "./model.ts";

const refunds: { readonly order: string; readonly amount: number }[] = [];

/** A clerk that pays back. Above 50 a person must approve: the task waits, for days and through restarts, until the answer comes. */
export default modelAgent({
  name: "Refund clerk",
  description: "Pays back orders. Large amounts need an approval.",
  version: "1.0.0",
  instructions: "Pay back what the customer asks for, if an order number and an amount are given.",
  tools: {
    refund: tool({
      description: "Pays back an amount for an order.",
      input: z.object({ order: z.string(), amount: z.number().positive() }),
      approve: (input) => z.object({ amount: z.number() }).parse(input).amount > 50,
      // Not repeatable: if the server dies while it runs, the model reads that the outcome is unknown.
      execute: ({ order, amount }, { key }) => {
        refunds.push({ order, amount });
        return { reference: `R${refunds.length}`, idempotencyKey: key };
      },
    }),
  },
  model: modelOr((messages) => {
    const last = messages.at(-1);
    if (last?.role === "tool") {
      const output = last.content[0]?.output;
      return { text: output?.type === "json" ? "The money is on its way." : `I could not do that: ${output?.value}` };
    }
    const [, order = "", amount = "0"] = /order (\w+).*?(\d+)/i.exec(textOfMessage(last)) ?? [];
    if (order === "") return { text: "Which order, and how much? For example: order A1, 20." };
    return { calls: [{ name: "refund", input: { order, amount: Number(amount) } }] };
  }),
});
