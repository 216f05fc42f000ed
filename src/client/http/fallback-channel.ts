import type { AgentInterface } from "../../protocol/card.ts";
import type { ClientRequest } from "../../wire/client/client-codec.ts";
import { neverSent } from "./back-off.ts";
import type { Channel, PreparedCall } from "./channel.ts";
import { RemoteError } from "./errors.ts";

/** Several ways into one agent, best first. */
export type Ways = readonly [Channel, ...Channel[]];

/**
 * One way in, made of several: where nobody is there, or nobody who understands, the next one is tried, and kept if it is better. What
 * may have been heard is never said again elsewhere.
 */
export function createFallbackChannel(ways: Ways): Channel {
  let [current] = ways;
  const requests = new WeakMap<PreparedCall, ClientRequest>();
  /** What was said and may have been heard, whatever came back. */
  const said = new WeakSet<PreparedCall>();
  const writings = new WeakMap<PreparedCall, Map<Channel, PreparedCall>>();

  /** The call as this channel writes it, the same every time. */
  const written = (call: PreparedCall, channel: Channel): PreparedCall => {
    const known = writings.get(call)?.get(channel);
    if (known !== undefined) return known;
    const request = requests.get(call);
    // By another verb: it is as this channel wrote it.
    if (request === undefined) return call;
    const made = channel.prepare(request);
    writings.set(call, (writings.get(call) ?? new Map<Channel, PreparedCall>()).set(channel, made));
    return made;
  };

  /** If it is heard nowhere, what the best way in said counts. */
  const through = async <T>(
    call: PreparedCall,
    attempt: (channel: Channel, call: PreparedCall) => Promise<T>,
  ): Promise<T> => {
    const best = current;
    try {
      return await attempt(best, written(call, best));
    } catch (thrown) {
      if (!isUnheard(thrown)) said.add(call);
      for (const channel of requests.has(call) && isUnheard(thrown) ? ways : []) {
        if (channel === best || (isMessage(call) && said.has(call) && !channel.dialect.messageIds)) continue;
        const own = sayable(() => written(call, channel));
        if (own === undefined) continue;
        try {
          const result = await attempt(channel, own);
          current = channel;
          return result;
        } catch (other) {
          if (isUnheard(other)) continue;
          // It was heard there, and that is where to come back to.
          current = channel;
          said.add(call);
          throw other;
        }
      }
      throw thrown;
    }
  };

  return {
    get dialect() {
      return current.dialect;
    },
    get at(): AgentInterface {
      return current.at;
    },
    prepare(request) {
      const call = current.prepare(request);
      requests.set(call, request);
      writings.set(call, new Map([[current, call]]));
      return call;
    },
    ask: (call, context) => through(call, (channel, own) => channel.ask(own, context)),
    open: (call, context) => through(call, (channel, own) => channel.open(own, context)),
    otherVerb: (call) => current.otherVerb(call),
  };
}

/** It does something, and twice if it is heard twice by somebody who cannot tell. */
function isMessage({ operation }: PreparedCall): boolean {
  return operation === "send" || operation === "stream";
}

/** The call as a dialect writes it; `undefined` where it has no words for that. */
function sayable(write: () => PreparedCall): PreparedCall | undefined {
  try {
    return write();
  } catch {
    return undefined;
  }
}

/** Nobody took it up: it was never sent, nothing is at that address, or what it asks is not in the version spoken there. */
function isUnheard(thrown: unknown): boolean {
  if (!(thrown instanceof RemoteError)) return false;
  if (thrown.code === "network") return neverSent(thrown);
  if (thrown.code === "version-not-supported" || thrown.code === "method-not-found") return true;
  return thrown.code === "invalid-agent-response" && thrown.remote.httpStatus === 404;
}
