import type { WebhookState } from "../../contract.ts";

/** Webhook states as numbers in the file. Never change a number: stored rows and the conditions of indexes use it. */
export const WEBHOOK_STATE_CODE: Readonly<Record<WebhookState, number>> = {
  active: 0,
  idle: 1,
  suspended: 2,
  removed: 3,
};

const STATES: readonly WebhookState[] = ["active", "idle", "suspended", "removed"];

export function webhookStateOf(code: number): WebhookState {
  const state = STATES[code];
  if (state === undefined) throw new Error(`The file has a webhook with the unknown state ${code}.`);
  return state;
}
