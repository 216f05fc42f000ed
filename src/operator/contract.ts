import type { Engine } from "../engine/api.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery, WebhookOverview } from "../push/contract.ts";
import type { Store } from "../store/contract.ts";
import type { Registry } from "../telemetry/metrics/registry.ts";

/** What the operations for operators work with. */
export interface OperatorParts {
  readonly store: Store;
  readonly engine: Pick<Engine, "subscribe" | "cancel" | "submit">;
  /** Absent: webhooks are not supported. */
  readonly push?: OperatorPush | undefined;
  /** Absent: metrics are turned off. */
  readonly registry?: Registry | undefined;
  readonly server: ServerFacts;
}

export interface OperatorPush {
  readonly view: WebhookOverview;
  readonly deadLetters: {
    list(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
    redeliver(letter: DeadLetterRef): Promise<void>;
  };
}

/** The server as operators see it. */
export interface ServerFacts {
  readonly version: string;
  /** The id of this process among those that share the store. */
  readonly node: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly pid: number;
  readonly agents: readonly { readonly id: string; readonly name: string; readonly version: string }[];
  /** The present figures of this process. */
  readonly counts: () => Readonly<Record<string, number>>;
}
