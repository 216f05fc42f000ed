/** The parameters or body of a client's request. Members that are `undefined` are not written. */
export type Params = Readonly<Record<string, unknown>>;

export function unlessEmpty(object: Params): Params | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}
