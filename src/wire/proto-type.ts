/** One message type: converts between its bytes and its ProtoJSON. */
export interface ProtoType {
  /** The value that `JSON.parse` would return for the message's ProtoJSON. Throws any error for invalid bytes. */
  decode(bytes: Uint8Array): unknown;
  /** `json`: ProtoJSON. Members that the type does not have are left out. */
  encode(json: unknown): Uint8Array<ArrayBuffer>;
}
