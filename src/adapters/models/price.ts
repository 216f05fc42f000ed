/** What a million tokens cost, in a currency of your choice; or a function that returns the cost of one model call. */
export type Price = TokenPrices | ((usage: Readonly<Record<string, number>>, model: string) => number);

/** The cost of a million tokens. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  /** Of input that the provider had in its cache. Default: as `input`. */
  readonly cachedInput?: number;
}

const MILLION = 1_000_000;

/** The cost of one model call. */
export function costOf(price: Price, usage: Readonly<Record<string, number>>, model: string): number {
  if (typeof price === "function") return price(usage, model);
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage;
  const { input, output, cachedInput = input } = price;
  const fresh = Math.max(inputTokens - cachedInputTokens, 0);
  return (fresh * input + cachedInputTokens * cachedInput + outputTokens * output) / MILLION;
}
