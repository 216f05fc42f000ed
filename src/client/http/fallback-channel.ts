import type { AgentInterface } from "../../protocol/card.ts";
import type { ClientRequest } from "../../wire/client/client-codec.ts";
import { neverSent } from "./back-off.ts";
import type { Channel, PreparedCall } from "./channel.ts";
import { RemoteError } from "./errors.ts";

/** Several interfaces of one agent, best first. */
export type Ways = readonly [Channel, ...Channel[]];

/**
 * A channel over several interfaces. If an interface cannot be reached or does not support the request, the next one is tried and kept if it works. A
 * request that may have been received is never sent to another interface.
 */
export function createFallbackChannel(ways: Ways): Channel {
  let [current] = ways;
  const requests = new WeakMap<PreparedCall, ClientRequest>();
  /** Requests that may have been received, whatever the answer was. */
  const maybeReceived = new WeakSet<PreparedCall>();
  const writings = new WeakMap<PreparedCall, Map<Channel, PreparedCall>>();

  /** The call as this channel encodes it, the same for every attempt. */
  const written = (call: PreparedCall, channel: Channel): PreparedCall => {
    const known = writings.get(call)?.get(channel);
    if (known !== undefined) return known;
    const request = requests.get(call);
    // A call with the other verb was encoded by this channel.
    if (request === undefined) return call;
    const made = channel.prepare(request);
    writings.set(call, (writings.get(call) ?? new Map<Channel, PreparedCall>()).set(channel, made));
    return made;
  };

  /** If no interface receives the request, the error of the best one is thrown. */
  const through = async <T>(
    call: PreparedCall,
    attempt: (channel: Channel, call: PreparedCall) => Promise<T>,
  ): Promise<T> => {
    const best = current;
    try {
      return await attempt(best, written(call, best));
    } catch (thrown) {
      if (!wasNotReceived(thrown)) maybeReceived.add(call);
      for (const channel of requests.has(call) && wasNotReceived(thrown) ? ways : []) {
        if (channel === best || (isMessage(call) && maybeReceived.has(call) && !channel.dialect.messageIds)) continue;
        const own = encodedOrUndefined(() => written(call, channel));
        if (own === undefined) continue;
        try {
          const result = await attempt(channel, own);
          current = channel;
          return result;
        } catch (other) {
          if (wasNotReceived(other)) continue;
          // This interface received the request; later calls use it.
          current = channel;
          maybeReceived.add(call);
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

/** Whether repeating the call may do the work twice. */
function isMessage({ operation }: PreparedCall): boolean {
  return operation === "send" || operation === "stream";
}

/** The call as a dialect encodes it; `undefined` if the dialect does not have the operation. */
function encodedOrUndefined(write: () => PreparedCall): PreparedCall | undefined {
  try {
    return write();
  } catch {
    return undefined;
  }
}

/** Whether no agent processed the call: it was never sent, the URL does not exist, or the server does not support the version or method. */
function wasNotReceived(thrown: unknown): boolean {
  if (!(thrown instanceof RemoteError)) return false;
  if (thrown.code === "network") return neverSent(thrown);
  if (thrown.code === "version-not-supported" || thrown.code === "method-not-found") return true;
  return thrown.code === "invalid-agent-response" && thrown.remote.httpStatus === 404;
}
