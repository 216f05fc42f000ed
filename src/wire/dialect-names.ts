/** The names of all dialects that a call can have, for the labels of metrics. */
export const DIALECT_NAMES: readonly string[] = [
  ...["1.0/jsonrpc", "1.0/rest", "1.0/grpc"],
  ...["0.3/jsonrpc", "0.3/rest-json", "0.3/rest-proto", "0.3/grpc"],
  ...["0.2/jsonrpc", "0.2/rest", "0.1/jsonrpc", "plain"],
];
