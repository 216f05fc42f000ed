/** How one dialect writes a message, where dialects differ. Invalid values are passed through. */
export interface Spelling {
  /** The members of a valid message besides its parts. */
  readonly base: Readonly<Record<string, unknown>>;
  /** The member that holds the parts. */
  readonly parts: "parts" | "content";
  text(value: unknown): object;
  bytes(value: unknown): object;
  uri(value: unknown): object;
  data(value: unknown): object;
  /** A part that is valid except for this media type or file name. */
  mediaType(value: unknown): object;
  filename(value: unknown): object;
  /** A part with two contents. */
  readonly twice: readonly object[];
  /** The field that errors report for the contents of a part. */
  readonly at: Readonly<Record<"text" | "bytes" | "uri" | "data" | "mediaType" | "filename", string>>;
  /** The fields that errors report for a null text and for an empty URI. */
  readonly nullText: string;
  readonly emptyUri: string;
  readonly wrongRoles: readonly unknown[];
  /** Members of a send's configuration. */
  readonly push: string;
  readonly wait: string;
  /** A valid `authentication` of a push configuration. */
  readonly scheme: "scheme" | "schemes";
}

/** Both bindings of the newest version. */
export const LATEST: Spelling = {
  base: { messageId: "m", role: "ROLE_USER" },
  parts: "parts",
  text: (text) => ({ text }),
  bytes: (raw) => ({ raw }),
  uri: (url) => ({ url }),
  data: (data) => ({ data }),
  mediaType: (mediaType) => ({ text: "x", mediaType }),
  filename: (filename) => ({ text: "x", filename }),
  twice: [
    { text: "a", url: "http://x" },
    { text: "a", data: null },
    { raw: "", data: {} },
    { text: "", url: "" },
  ],
  at: { text: "text", bytes: "raw", uri: "url", data: "data", mediaType: "mediaType", filename: "filename" },
  nullText: "",
  emptyUri: ".url",
  wrongRoles: [undefined, null, "", "user", "ROLE_AGENT", "ROLE_UNSPECIFIED", "role_user", 0, 2, 3, -1, {}, [], true],
  push: "taskPushNotificationConfig",
  wait: "returnImmediately",
  scheme: "scheme",
};

/** 0.3 with a `kind` in every object: JSON-RPC, and REST in that style. */
export const KINDS: Spelling = {
  base: { kind: "message", messageId: "m", role: "user" },
  parts: "parts",
  text: (text) => ({ kind: "text", text }),
  bytes: (bytes) => ({ kind: "file", file: { bytes } }),
  uri: (uri) => ({ kind: "file", file: { uri } }),
  data: (data) => ({ kind: "data", data }),
  mediaType: (mimeType) => ({ kind: "file", file: { uri: "http://x", mimeType } }),
  filename: (name) => ({ kind: "file", file: { uri: "http://x", name } }),
  twice: [
    { kind: "text", text: "a", file: { uri: "http://x" } },
    { kind: "text", text: "a", data: {} },
    { kind: "file", file: { bytes: "" }, data: {} },
    { text: "a", data: {} },
  ],
  at: {
    text: "text",
    bytes: "file.bytes",
    uri: "file.uri",
    data: "data",
    mediaType: "file.mimeType",
    filename: "file.name",
  },
  nullText: ".text",
  emptyUri: ".file.uri",
  wrongRoles: [undefined, null, "", "ROLE_USER", "agent", "USER", "system", 0, 1, 2, {}, [], true, ["user"]],
  push: "pushNotificationConfig",
  wait: "blocking",
  scheme: "schemes",
};

/** 0.3 over REST, as its protobuf definition writes it. */
export const PROTO: Spelling = {
  base: { messageId: "m", role: "ROLE_USER" },
  parts: "content",
  text: (text) => ({ text }),
  bytes: (fileWithBytes) => ({ file: { fileWithBytes } }),
  uri: (fileWithUri) => ({ file: { fileWithUri } }),
  data: (data) => ({ data: { data } }),
  mediaType: (mimeType) => ({ file: { fileWithUri: "http://x", mimeType } }),
  filename: (name) => ({ file: { fileWithUri: "http://x", name } }),
  twice: [
    { text: "a", file: { fileWithUri: "http://x" } },
    { text: "a", data: { data: {} } },
    { file: { fileWithBytes: "" }, data: { data: {} } },
    { text: "", data: {} },
  ],
  at: {
    text: "text",
    bytes: "file.fileWithBytes",
    uri: "file.fileWithUri",
    data: "data.data",
    mediaType: "file.mimeType",
    filename: "file.name",
  },
  nullText: "",
  emptyUri: ".file",
  wrongRoles: [undefined, null, "", "user", "ROLE_AGENT", "ROLE_UNSPECIFIED", "role_user", 0, 2, 3, -1, {}, [], true],
  push: "pushNotification",
  wait: "blocking",
  scheme: "schemes",
};
