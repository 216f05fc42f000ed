import type { Submitted } from "../api.ts";

interface UnderWay {
  readonly digest: string;
  readonly result: Promise<Submitted>;
}

export type SendsUnderWay = Map<string, UnderWay>;
