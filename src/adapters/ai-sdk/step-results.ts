import type { AiSdkStep } from "./ai-sdk-agent.ts";

/** The results of the steps, in their order. The SDK passes a result about when it writes the `finish-step` part. */
export class StepResults {
  readonly #results: AiSdkStep[] = [];
  #added = Promise.withResolvers<void>();

  add(step: AiSdkStep): void {
    this.#results.push(step);
    this.#added.resolve();
  }

  async next(): Promise<AiSdkStep> {
    for (;;) {
      const step = this.#results.shift();
      if (step !== undefined) return step;
      this.#added = Promise.withResolvers();
      await this.#added.promise;
    }
  }
}
