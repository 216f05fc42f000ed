import type { AgentInterface } from "../protocol/card.ts";
import type { MessageId } from "../protocol/ids.ts";
import type { SendRequest } from "../protocol/operation.ts";
import { createRestClientCodec, createRpcClientCodec } from "./v1_0/client-codec.ts";

/** An example request that a user can send with curl. */
export interface ExampleSend {
  readonly binding: string;
  /** Appended to the agent's URL. */
  readonly path: string;
  /** The value of `A2A-Version`. */
  readonly version: string;
  /** JSON text. */
  readonly body: string;
}

/** One example for each binding of 1.0 that is among the agent's interfaces. */
export function exampleSends(
  interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[],
): readonly ExampleSend[] {
  return [rpcExample(), restExample()].filter(({ binding, version }) =>
    interfaces.some((listed) => listed.binding === binding && listed.protocolVersion === version),
  );
}

function rpcExample(): ExampleSend {
  const { version, encodeRequest } = createRpcClientCodec();
  const { method, params } = encodeRequest(helloRequest("1"));
  const body = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${params}}`;
  return { binding: "JSONRPC", path: "/", version, body };
}

function restExample(): ExampleSend {
  const { version, encodeRequest } = createRestClientCodec();
  const { path, body = "" } = encodeRequest(helloRequest("2"));
  return { binding: "HTTP+JSON", path, version, body };
}

/**
 * The shortest valid request. The message id differs per example, so that a server with idempotent sends treats the examples as two
 * messages.
 */
function helloRequest(messageId: string): SendRequest {
  return {
    operation: "send",
    tenant: "",
    message: { messageId: messageId as MessageId, role: "user", parts: [{ text: "Hello" }] },
    metadata: {},
    outputModes: [],
    history: undefined,
    waitMs: Number.POSITIVE_INFINITY,
  };
}
