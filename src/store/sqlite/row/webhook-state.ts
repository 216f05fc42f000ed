import type { WebhookState } from "../../contract.ts";

/** How states of webhooks are written in the file: numbers that never change their meaning. The indexes name them too. */
export const WEBHOOK_STATE_CODE: Readonly<Record<WebhookState, number>> = {
  active: 0,
  idle: 1,
  suspended: 2,
  removed: 3,
};

const STATES: readonly WebhookState[] = ["active", "idle", "suspended", "removed"];

export function webhookStateOf(code: number): WebhookState {
  const state = STATES[code];
  if (state === undefined) throw new Error(`The file has a webhook of the unknown state ${code}.`);
  return state;
}
