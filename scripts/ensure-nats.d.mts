/** The path of a program: of the variable, or in the usual folders. `undefined` if there is none. */
export function findServer(
  name: string,
  variable: string,
  env?: Readonly<Record<string, string | undefined>>,
): string | undefined;

/** The path of a NATS server; `undefined` if there is none. */
export function findNatsServer(env?: Readonly<Record<string, string | undefined>>): string | undefined;
