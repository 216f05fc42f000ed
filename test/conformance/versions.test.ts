import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, taskOf, text } from "./dialect-client.ts";
import { readError } from "./dialect-clients/v0-3-shapes.ts";
import { readRestError, readRpcError } from "./dialect-clients/v1-0-shapes.ts";
import { DIALECT_CLIENTS, DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { WAITING } from "./every-dialect.ts";
import { exchange, type HttpAnswer } from "./http.ts";
import { asObject } from "./strict.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

/**
 * Methods of 1.0 only, of all versions before it, of 0.2 and 0.3, and of 0.1 only. Two of them concern webhooks, which
 * the task does not have.
 */
const RPC = {
  "1.0": "GetTask",
  "0.x": "tasks/get",
  "0.2": "tasks/pushNotificationConfig/get",
  "0.1": "tasks/pushNotification/get",
} as const;
const REST = { "1.0": "/tasks/x", "0.x": "/v1/tasks/x" } as const;

type Spelling = keyof typeof RPC;

type Asking = {
  readonly claim: string | undefined;
  /** Put the version into the query instead of the header. */
  readonly query?: boolean;
} & (
  | { readonly binding: "jsonrpc"; readonly spelling: Spelling }
  | { readonly binding: "rest"; readonly spelling: keyof typeof REST }
);

/** Requests a task that does not exist: an accepted request gets "task not found". */
async function ask(url: string, asking: Asking): Promise<HttpAnswer> {
  const { claim, query = false } = asking;
  const search = query && claim !== undefined ? `?${new URLSearchParams({ "A2A-Version": claim }).toString()}` : "";
  const headers = { ...(claim !== undefined && !query && { "a2a-version": claim }) };
  if (asking.binding === "rest") {
    return exchange({ method: "GET", url: `${url}${REST[asking.spelling]}${search}`, headers });
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: RPC[asking.spelling], params: { id: "x" } });
  return exchange({
    method: "POST",
    url: `${url}/${search}`,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

/** The error of a response, and the version of its format. */
function errorFormatOf(answer: HttpAnswer, binding: Asking["binding"]): string {
  const body = asObject(JSON.parse(answer.text), "body");
  const error = binding === "jsonrpc" ? body["error"] : body;
  const read = binding === "jsonrpc" ? readRpcError : (value: unknown) => readRestError(value, answer.status);
  try {
    return `${read(error).name} in the form of 1.0`;
  } catch {
    // In REST the error appears twice: bare, and as `error`.
    const { error: _copy, ...bare } = asObject(error, "error");
    return `${readError(bare).name} in the form of 0.x`;
  }
}

/**
 * The error in the request's own version, or a refusal in the format of the claimed version. All versions before 1.0
 * share one format.
 */
const SERVED = { "1.0": "TaskNotFound in the form of 1.0", "0.x": "TaskNotFound in the form of 0.x" } as const;
const NO_SUCH = { "1.0": "MethodNotFound in the form of 1.0", "0.x": "MethodNotFound in the form of 0.x" } as const;
const UNSUPPORTED = "VersionNotSupported in the form of 1.0";

type Row<S extends Spelling = Spelling> = readonly [
  claim: string | undefined,
  spelling: S,
  usual: string,
  lenient: string,
  strict: string,
];

const TABLE: readonly Row<keyof typeof REST>[] = [
  ["1.0", "1.0", SERVED["1.0"], SERVED["1.0"], SERVED["1.0"]],
  ["1.0.1", "1.0", SERVED["1.0"], SERVED["1.0"], SERVED["1.0"]],
  [undefined, "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["", "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["0.3", "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["0.3.0", "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["0.3", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.3.0", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  [undefined, "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["1.0", "0.x", NO_SUCH["1.0"], SERVED["0.x"], NO_SUCH["1.0"]],
  ["1.0.0", "0.x", NO_SUCH["1.0"], SERVED["0.x"], NO_SUCH["1.0"]],
  ["0.5", "1.0", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["0.5", "0.x", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["2.0", "1.0", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["99.0", "0.x", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["1", "1.0", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["latest", "1.0", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["1.0, 0.3", "1.0", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["0.2", "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["0.2", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.2.5", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.4", "0.x", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
  ["plain", "0.x", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
];

/** JSON-RPC only: versions that only differ in their methods. */
const RPC_TABLE: readonly Row[] = [
  ["0.1", "1.0", SERVED["1.0"], SERVED["1.0"], NO_SUCH["0.x"]],
  ["0.1", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.1.0", "0.x", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.3", "0.2", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.2", "0.2", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  [undefined, "0.2", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.1", "0.2", SERVED["0.x"], SERVED["0.x"], NO_SUCH["0.x"]],
  ["1.0", "0.2", NO_SUCH["1.0"], SERVED["0.x"], NO_SUCH["1.0"]],
  ["0.1", "0.1", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  [undefined, "0.1", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["", "0.1", SERVED["0.x"], SERVED["0.x"], SERVED["0.x"]],
  ["0.2", "0.1", NO_SUCH["0.x"], SERVED["0.x"], NO_SUCH["0.x"]],
  ["0.3", "0.1", NO_SUCH["0.x"], SERVED["0.x"], NO_SUCH["0.x"]],
  ["1.0", "0.1", NO_SUCH["1.0"], SERVED["0.x"], NO_SUCH["1.0"]],
  ["0.5", "0.1", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED],
];

describe.each([
  ["by default", undefined, 2],
  ["with `lenient: true`", true, 3],
  ["with `lenient: false`", false, 4],
] as const)("a server, %s", (_name, lenient, column) => {
  let testServer: TestServer;
  beforeAll(async () => {
    testServer = await openTestServer({ lenient });
  });
  afterAll(() => testServer[Symbol.asyncDispose]());

  const expectErrorFormat = async (asking: Asking, expected: string) => {
    for (const query of [false, true]) {
      const answer = await ask(testServer.url, { ...asking, query });
      expect([query, errorFormatOf(answer, asking.binding)]).toEqual([query, expected]);
    }
  };

  it.each([...TABLE, ...RPC_TABLE])("over jsonrpc handles A2A-Version %j with the method of %s", async (...row) => {
    const [claim, spelling] = row;
    await expectErrorFormat({ claim, spelling, binding: "jsonrpc" }, row[column]);
  });

  it.each(TABLE)("over rest handles A2A-Version %j with the path of %s", async (...row) => {
    const [claim, spelling] = row;
    await expectErrorFormat({ claim, spelling, binding: "rest" }, row[column]);
  });
});

describe("a version", () => {
  let testServer: TestServer;
  beforeAll(async () => {
    testServer = await openTestServer({ blockingDefault: WAITING });
  });
  afterAll(() => testServer[Symbol.asyncDispose]());

  it.each(["jsonrpc", "rest"] as const)(
    "that is not supported gets an error with the supported versions, over %s",
    async (binding) => {
      const answer = await ask(testServer.url, { claim: "7.5", spelling: "1.0", binding });
      expect(answer.text).toContain('"supportedVersions":"1.0,0.3,0.2,0.1"');
    },
  );

  it.each(["jsonrpc", "rest"] as const)("in the header has priority over the query, over %s", async (binding) => {
    const url = binding === "rest" ? `${testServer.url}/tasks/x?A2A-Version=9.9` : `${testServer.url}/?A2A-Version=9.9`;
    const answer = await exchange({
      method: binding === "rest" ? "GET" : "POST",
      url,
      headers: { "A2A-VERSION": "1.0", "content-type": "application/json" },
      ...(binding === "jsonrpc" && {
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } }),
      }),
    });
    expect(errorFormatOf(answer, binding)).toBe(SERVED["1.0"]);
  });

  it.each(DIALECT_CLIENTS_1_0)("$dialect can be omitted for a whole conversation", async (dialectClient) => {
    const echo = dialectClient.at(testServer.of("echo"), { version: null });
    const { id } = await taskOf(echo.send(text("hi"), { wait: true }));
    expect((await accepted(echo.get(id))).id).toBe(id);
  });

  it.each(DIALECT_CLIENTS.filter(({ version }) => version !== "1.0"))(
    "$dialect can be requested",
    async (dialectClient) => {
      const echo = dialectClient.at(testServer.of("echo"), { version: dialectClient.version, bodyless: "proto" });
      const { id } = await taskOf(echo.send(text("hi"), { wait: true }));
      expect((await accepted(echo.get(id))).id).toBe(id);
    },
  );

  it.each(DIALECT_CLIENTS)(
    "is detected by its methods at the address of every other version: $dialect",
    async (dialectClient) => {
      const echo = dialectClient.at(testServer.of("echo"), { bodyless: "proto" });
      const { id } = await taskOf(echo.send(text("hi"), { wait: true }));
      expect((await accepted(echo.get(id))).status.state).toBe("completed");
    },
  );
});
