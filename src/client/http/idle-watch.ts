import { RemoteError } from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

/** Watches one connection. */
export interface IdleWatch {
  readonly signal: AbortSignal;
  /** Something arrived. */
  touch(): void;
  stop(): void;
}

/**
 * Aborts when nothing has arrived for `idleTimeout` milliseconds. Starts with the first `touch`. Without a limit it only passes on `outer`.
 */
export function idleWatch({ clock, idleTimeout }: ClientSettings, outer: AbortSignal): IdleWatch {
  if (idleTimeout === Number.POSITIVE_INFINITY) return { signal: outer, touch: () => {}, stop: () => {} };
  const controller = new AbortController();
  let timer = clock.setTimer(Number.POSITIVE_INFINITY, () => {});
  const silent = (): void =>
    controller.abort(new RemoteError("network", `The stream has been silent for ${idleTimeout} ms.`));
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    touch() {
      timer.cancel();
      timer = clock.setTimer(clock.now() + idleTimeout, silent);
    },
    stop: () => timer.cancel(),
  };
}
