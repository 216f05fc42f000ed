import { setTimeout as sleep } from "node:timers/promises";
import { type Store, StoreError } from "../../src/store/contract.ts";
import type { Random } from "../random.ts";

export interface StoreFaults {
  /** Milliseconds that a call takes longer, at most. */
  readonly slowness: number;
  /** The probability that a call fails and changes nothing. */
  readonly failures: number;
}

/** Calls that fail by nature, or that end a process in good order: these are left as they are. */
const LEFT_ALONE: ReadonlySet<string | symbol> = new Set(["health", "close", "leave"]);

/** A store whose calls take longer and fail now and then, as with a busy disk. A delay may lie before or behind the call. */
export function createFaultyStore(inner: Store, random: Random, faults: StoreFaults): Store {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (LEFT_ALONE.has(name)) return member.bind(target);
      return async (...args: unknown[]): Promise<unknown> => {
        const before = random.chance(0.5);
        const delay = random.next() * faults.slowness;
        if (before) await sleep(delay);
        if (random.chance(faults.failures))
          throw new StoreError("busy", "The disk is busy (made up by the chaos run).");
        const result: unknown = await Reflect.apply(member, target, args);
        if (!before) await sleep(delay);
        return result;
      };
    },
  });
}
