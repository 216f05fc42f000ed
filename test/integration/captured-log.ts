import type { Logger } from "palaver";

/** Collects everything that a server in this process logs: its logger, and lines on standard error. */
export interface CapturedLog {
  readonly logger: Logger;
  /** From now on, standard error is collected instead of written. */
  start(): void;
  stop(): void;
  clear(): void;
  text(): string;
}

export function createConsoleCapture(): CapturedLog {
  let text = "";
  const write = process.stderr.write.bind(process.stderr);
  const add = (message: string, details: object = {}): void => {
    const error = "error" in details && details.error instanceof Error ? `${details.error.stack}` : "";
    text += `${message} ${JSON.stringify(details)} ${error}\n`;
  };
  return {
    logger: { debug: add, info: add, warn: add, error: add },
    start() {
      process.stderr.write = (chunk: string | Uint8Array): boolean => {
        text += String(chunk);
        return true;
      };
    },
    stop() {
      process.stderr.write = write;
    },
    clear() {
      text = "";
    },
    text: () => text,
  };
}
