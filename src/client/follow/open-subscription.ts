import type { TaskId } from "../../protocol/ids.ts";
import type { AgentHost } from "../agent-host.ts";
import type { CallContext, Opened } from "../http/channel.ts";
import { toRemoteError } from "../http/errors.ts";

/** Subscribes to a task. REST servers disagree on the verb (GET or POST): the second one is tried once, and remembered if it works. */
export async function openSubscription(host: AgentHost, id: TaskId, context: CallContext): Promise<Opened> {
  const { channel, tenant } = host;
  const usual = channel.prepare({ operation: "subscribe", tenant, id });
  const other = channel.otherVerb(usual);
  if (other === undefined) return channel.open(usual, context);
  if (host.subscribesByOtherVerb !== undefined) {
    return channel.open(host.subscribesByOtherVerb ? other : usual, context);
  }
  try {
    return await channel.open(usual, context);
  } catch (thrown) {
    const { httpStatus } = toRemoteError(thrown).remote;
    if (httpStatus !== 404 && httpStatus !== 405) throw thrown;
    const opened = await channel.open(other, context);
    host.subscribesByOtherVerb = true;
    return opened;
  }
}
