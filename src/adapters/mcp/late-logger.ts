import type { Logger } from "../../internal/logger.ts";

/** Lines that wait for the logger. */
const MAX_WAITING = 100;

/** A logger that exists before the server's: its lines wait until that is known. */
export class LateLogger implements Logger {
  #logger: Logger | undefined;
  #waiting: ((logger: Logger) => void)[] = [];

  use(logger: Logger): void {
    this.#logger = logger;
    for (const write of this.#waiting) write(logger);
    this.#waiting = [];
  }

  debug(message: string, details?: object): void {
    this.#write((logger) => logger.debug(message, details));
  }
  info(message: string, details?: object): void {
    this.#write((logger) => logger.info(message, details));
  }
  warn(message: string, details?: object): void {
    this.#write((logger) => logger.warn(message, details));
  }
  error(message: string, details?: object): void {
    this.#write((logger) => logger.error(message, details));
  }

  #write(write: (logger: Logger) => void): void {
    if (this.#logger !== undefined) write(this.#logger);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(write);
  }
}
