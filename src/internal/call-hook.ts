import type { Logger } from "./logger.ts";

/** Calls a hook of the host. An error, or a rejection, is logged and changes nothing else. */
export function callHook(call: () => void | Promise<void>, logger: Logger): void {
  const failed = (error: unknown): void => logger.error("A hook failed", { error });
  try {
    Promise.resolve(call()).catch(failed);
  } catch (error) {
    failed(error);
  }
}
