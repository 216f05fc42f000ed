import { backOff, delayAfter } from "../http/back-off.ts";
import type { ClientSettings } from "../http/settings.ts";
import type { ConnectionEnd, Pause } from "./follow-state.ts";

type PauseSettings = Pick<ClientSettings, "retry" | "random" | "clock">;

/** Milliseconds to wait before the next request or connection. */
export function pauseLength(settings: PauseSettings, pause: Pause): number {
  switch (pause.kind) {
    case "fixed":
      return pause.milliseconds;
    case "retry":
      return delayAfter(settings, pause.error, pause.failures) ?? settings.retry.maxDelay;
    case "reconnect": {
      const { ended, failures } = pause;
      const { retry, random } = settings;
      // Up to 25 % longer than the server asks, so that not all clients of a restarted server return at the same moment.
      const asked = Math.min((ended.retry ?? 0) * (1 + random() / 4), retry.maxDelay);
      return Math.max(asked, failures === 0 ? afterProgress(settings, ended) : afterFailure(settings, ended, failures));
    }
  }
}

/** A connection that broke after new events is reopened almost at once; one that the server closed, after the usual pause. */
function afterProgress(settings: PauseSettings, { name }: ConnectionEnd): number {
  return name === "broken" ? (settings.random() * settings.retry.baseDelay) / 10 : backOff(settings, 1);
}

function afterFailure(settings: PauseSettings, { error }: ConnectionEnd, failures: number): number {
  if (error === undefined) return backOff(settings, failures);
  return delayAfter(settings, error, failures) ?? settings.retry.maxDelay;
}
