/** What a client writes as parameters or as a body. What is `undefined` is left out. */
export type Params = Readonly<Record<string, unknown>>;

export function unlessEmpty(object: Params): Params | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}
