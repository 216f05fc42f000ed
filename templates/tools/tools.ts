import { type Tools, tool } from "palaver/models";
import { z } from "zod";

/** Where payments go. Replace it by your own system. */
export interface Payments {
  /** Pays once for each key, however often it is called. */
  refund(order: string, amount: number, key: string): Promise<string>;
}

/** Above this amount a person must approve. */
const LIMIT = 50;

export function createTools(payments: Payments): Tools {
  return {
    orderStatus: tool({
      description: "The status of an order.",
      input: z.object({ order: z.string() }),
      // May be called again if the server dies meanwhile.
      repeatable: true,
      execute: ({ order }) => ({ order, status: "delivered" }),
    }),
    refund: tool({
      description: "Pays back an amount for an order.",
      input: z.object({ order: z.string(), amount: z.number().positive() }),
      approve: (input) => z.object({ amount: z.number() }).parse(input).amount > LIMIT,
      // If the server dies while it pays, the call is repeated with the same `key`: nothing is paid twice.
      repeatable: true,
      execute: async ({ order, amount }, { key }) => ({ reference: await payments.refund(order, amount, key) }),
    }),
  };
}
