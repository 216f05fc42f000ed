/** The log of a server. `details` are structured fields; a field called `error` is written with its stack. */
export interface Logger {
  /** Details for finding errors; hidden by default. */
  debug(message: string, details?: object): void;
  /** Normal events. */
  info(message: string, details?: object): void;
  /** Something is wrong, but the work goes on. */
  warn(message: string, details?: object): void;
  /** Work has failed. */
  error(message: string, details?: object): void;
}

/** A logger that writes nothing, for tests and as a default. */
export const SILENT_LOGGER: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
