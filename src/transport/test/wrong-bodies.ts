/** Bodies that are not JSON. */
export const NO_JSON: readonly (readonly [name: string, body: string | Uint8Array<ArrayBuffer>])[] = [
  ["white space", "  \n"],
  ["a truncated object", '{"message":{"messageId":"m"'],
  ["a truncated string", '{"message":{"messageId":"m'],
  ["a truncated escape", '{"message":"\\u12'],
  ["an unquoted key", '{message:"x"}'],
  ["single quotes", "{'message':'x'}"],
  ["a trailing comma", '{"message":{},}'],
  ["two values", '{"message":{}} {}'],
  ["a comment", '{"message":{}} // hi'],
  ["a bare word", "undefined"],
  ["not a number", "NaN"],
  ["a leading zero", '{"message":01}'],
  ["a hexadecimal number", '{"message":0x1}'],
  ["a control character in a string", '{"message":"\u0001"}'],
  ["a form", "message=x&role=user"],
  ["markup", "<message>x</message>"],
  ["a NUL", "\0"],
  ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
  ["overlong UTF-8", new Uint8Array([0x22, 0xc0, 0xaf, 0x22])],
  ["a surrogate in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["a character cut in two", new Uint8Array([0x22, 0xe2, 0x82])],
  ["UTF-16", Uint8Array.from(Buffer.from("\uFEFF{}", "utf16le"))],
  ["compressed bytes", new Uint8Array([0x1f, 0x8b, 0x08, 0x00, 0x00])],
  ["ten thousand brackets, left open", "[".repeat(10_000)],
  ["ten thousand braces, left open", '{"a":'.repeat(10_000)],
];

/** JSON that is not an object. */
export const NO_OBJECT: readonly (readonly [name: string, body: string])[] = [
  ["a number", "42"],
  ["a string", '"hello"'],
  ["true", "true"],
  ["an empty array", "[]"],
  ["a batch", '[{"message":{}},{"message":{}}]'],
  ["ten thousand nested arrays", "[".repeat(10_000) + "]".repeat(10_000)],
];

/** Content types that are refused. */
export const WRONG_TYPES: readonly string[] = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=latin1",
  "application/jsonx",
  "application/xml",
  "text/json",
  "json",
  "application/",
  "*/*",
];
