/** The parameters or body of a client's request. Members that are `undefined` are not written. */
export type Params = Readonly<Record<string, unknown>>;

/** `undefined` for an object without members, so that the request omits it. */
export function unlessEmpty(object: Params): Params | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}
