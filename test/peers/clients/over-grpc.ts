/** What the official clients lack over gRPC, or what these tests cannot see there. */
export const OVER_GRPC = {
  credentials: { GRPC: "over gRPC the client sends credentials only with TLS" },
  "extended-card": { GRPC: "over gRPC the client sends credentials only with TLS" },
  "json-answers": { GRPC: "answers over gRPC have no members besides those of their type" },
  "recorded-calls": { GRPC: "calls over gRPC are not recorded" },
};
