import type { AgentInterface } from "../protocol/card.ts";
import type { MessageId } from "../protocol/ids.ts";
import type { SendRequest } from "../protocol/operation.ts";
import { createRestClientCodec, createRpcClientCodec } from "./v1_0/client-codec.ts";

/** A send that a person can try. */
export interface ExampleSend {
  readonly binding: string;
  /** What follows the agent's address. */
  readonly path: string;
  /** What to say in `A2A-Version`. */
  readonly version: string;
  /** JSON. */
  readonly body: string;
}

/** One for each binding of the newest version, as far as it is among the ways to reach an agent. */
export function exampleSends(
  interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[],
): readonly ExampleSend[] {
  return [rpcExample(), restExample()].filter(({ binding, version }) =>
    interfaces.some((reached) => reached.binding === binding && reached.protocolVersion === version),
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
