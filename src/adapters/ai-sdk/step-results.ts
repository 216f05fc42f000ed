import type { AiSdkStep } from "./ai-sdk-agent.ts";

interface EndedStep {
  readonly step: AiSdkStep;
  /** Lets the agent continue with its next step. */
  release(): void;
}

/** The results of the steps, in their order. The agent waits until a step is stored. */
export class StepResults {
  readonly #ended: EndedStep[] = [];
  #added = Promise.withResolvers<void>();

  /** Resolves when the step is released. */
  add(step: AiSdkStep): Promise<void> {
    const released = Promise.withResolvers<void>();
    this.#ended.push({ step, release: released.resolve });
    this.#added.resolve();
    return released.promise;
  }

  /** The next step. The SDK passes it at about the time at which it writes the `finish-step` part. */
  async next(): Promise<EndedStep> {
    for (;;) {
      const ended = this.#ended.shift();
      if (ended !== undefined) return ended;
      this.#added = Promise.withResolvers();
      await this.#added.promise;
    }
  }
}
