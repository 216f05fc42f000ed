import type { Bus } from "../bus/contract.ts";
import type { Clock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { OutgoingOptions } from "../outgoing/contract.ts";
import { createOutgoing } from "../outgoing/create-outgoing.ts";
import type { PushHooks } from "../push/contract.ts";
import type { Notary } from "../push/delivery.ts";
import { createPush, type Push } from "../push/push.ts";
import type { DialectOptions } from "../wire/options.ts";
import { pushCodecOf } from "../wire/push/push-codecs.ts";
import type { OpenStore } from "./open-store.ts";
import type { CheckedPush } from "./settings/push-settings.ts";

export interface PushParts {
  readonly opened: Pick<OpenStore, "store" | "secret">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly node: string;
  readonly logger: Logger;
  readonly checked: CheckedPush;
  readonly outgoing: OutgoingOptions;
  readonly dialects: DialectOptions;
  readonly notary: Notary | undefined;
  readonly hooks: PushHooks;
  readonly onFatal: (error: unknown) => void;
}

/** Connects webhook delivery with the guarded `fetch` of this process. */
export function createServerPush({ opened, checked, outgoing, dialects, ...parts }: PushParts): Push {
  const courier = createOutgoing({ ...outgoing, maxSockets: checked.lanes.perOrigin });
  const push = createPush({
    ...parts,
    store: opened.store,
    secret: opened.secret,
    courier,
    codecOf: (dialect) => pushCodecOf(dialect, dialects),
    settings: checked.settings,
    lanes: checked.lanes,
  });
  return {
    ...push,
    async drain(timeout) {
      await push.drain(timeout);
      courier.close();
    },
  };
}
