import { expect, it } from "vitest";
import type { AgentInterface } from "../../protocol/card.ts";
import { grpcOrigin } from "./grpc-address.ts";

const at = (url: string): AgentInterface => ({ url, binding: "JSONRPC", protocolVersion: "1.0" });

it.each([
  ["http://agents.example:50051", [], "http://agents.example:50051"],
  ["https://agents.example", [], "https://agents.example"],
  ["grpc://agents.example:50051", [], "http://agents.example:50051"],
  ["grpcs://agents.example:50051", [], "https://agents.example:50051"],
  ["agents.example:50051", [], "https://agents.example:50051"],
  ["agents.example", [], "https://agents.example"],
  ["127.0.0.1:3000", [], "http://127.0.0.1:3000"],
  ["[::1]:3000", [], "http://[::1]:3000"],
  ["agents.example:3000", ["http://agents.example:3000/a2a"], "http://agents.example:3000"],
  ["agents.example:3000", ["http://agents.example:4000/a2a"], "https://agents.example:3000"],
  ["127.0.0.1:3000", ["https://127.0.0.1:3000/"], "https://127.0.0.1:3000"],
  ["ftp://agents.example", [], undefined],
  ["https://user@agents.example", [], undefined],
  ["not an address", [], undefined],
])("The gRPC interface %s beside %j is at %s", (address, others, origin) => {
  expect(grpcOrigin(address, { interfaces: others.map(at) })).toBe(origin);
});
