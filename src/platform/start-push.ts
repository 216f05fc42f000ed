import type { Bus } from "../bus/contract.ts";
import type { NodeLease } from "../engine/record/node-lease.ts";
import type { Clock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { OutgoingOptions } from "../outgoing/contract.ts";
import { createOutgoing } from "../outgoing/create-outgoing.ts";
import type { PushHooks } from "../push/contract.ts";
import type { NotificationSigner } from "../push/delivery.ts";
import { createPush, type Push } from "../push/push.ts";
import type { Telemetry } from "../telemetry/contract.ts";
import type { DialectOptions } from "../wire/options.ts";
import { pushCodecOf } from "../wire/push/push-codecs.ts";
import type { OpenStore } from "./opened-store.ts";
import type { CheckedPush } from "./settings/push-settings.ts";

/** The parts of a server that webhooks need. `signer` is `undefined` if notifications are not signed. */
export interface PushParts {
  readonly opened: Pick<OpenStore, "store" | "secret">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly node: string;
  readonly lease: NodeLease;
  /** Ids of the agents that this process serves. */
  readonly agents: readonly string[];
  readonly logger: Logger;
  readonly checked: CheckedPush;
  readonly outgoing: OutgoingOptions;
  readonly dialects: DialectOptions;
  readonly signer: NotificationSigner | undefined;
  readonly hooks: PushHooks;
  readonly telemetry: Telemetry | undefined;
  readonly onFatal: (error: unknown) => void;
}

/** Connects webhook delivery with the guarded `fetch` of this process. */
export function createServerPush({ opened, checked, outgoing, dialects, ...parts }: PushParts): Push {
  const sender = createOutgoing({ ...outgoing, maxSockets: checked.concurrency.perOrigin });
  const push = createPush({
    ...parts,
    store: opened.store,
    secret: opened.secret,
    sender,
    codecOf: (dialect) => pushCodecOf(dialect, dialects),
    settings: checked.settings,
    concurrency: checked.concurrency,
  });
  return {
    ...push,
    async drain(timeout) {
      await push.drain(timeout);
      sender.close();
    },
  };
}
