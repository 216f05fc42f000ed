import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HeaderFields } from "../../client/http/header-fields.ts";
import type { HttpResponse, ResponseBody, Send } from "../../client/http/send.ts";
import { decoded } from "./decoded.ts";

/** Milliseconds to connect, TLS included, and without any byte afterwards: the limits of Node's `fetch`. */
const CONNECT_TIMEOUT = 10_000;
const IDLE_TIMEOUT = 300_000;

/** What `fetch` also sends. The caller's headers replace these. */
const OWN_HEADERS = { accept: "*/*", "accept-encoding": "gzip, deflate, br", "user-agent": "node" };

/**
 * Sends requests with `node:http`. A process whose first request is a `fetch` spends most of its time on compiling it. Redirects are not
 * followed: the client does that.
 */
export const nodeSend: Send = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const at = new URL(url);
    const { request } = moduleFor(at);
    const outgoing = request(at, { method, headers: { ...OWN_HEADERS, ...Object.fromEntries(headers) }, signal });
    outgoing.once("response", (incoming) => resolve(responseOf(url, incoming)));
    // Also after the response: an abort is an error of both.
    outgoing.on("error", reject);
    limitTime(outgoing, at);
    // As bytes: Node writes a text together with the headers, and then all of it as UTF-8.
    outgoing.end(typeof body === "string" ? Buffer.from(body) : body);
  });

/** Not imported: the import of `node:http` reads all of its members, and one of them loads `fetch`. */
function moduleFor({ protocol, username, password }: URL): Pick<typeof import("node:http"), "request"> {
  if (username !== "" || password !== "") throw new TypeError("The URL contains a user or a password.");
  if (protocol === "https:") return process.getBuiltinModule("node:https");
  if (protocol === "http:") return process.getBuiltinModule("node:http");
  throw new TypeError(`${protocol} is not http: or https:.`);
}

/** Ends a request whose server does not accept a connection, or is silent. */
function limitTime(outgoing: ClientRequest, { host, protocol }: URL): void {
  const timer = setTimeout(() => {
    // The code says that nothing was sent (src/client/http/back-off.ts).
    const error = new Error(`no connection to ${host} within ${CONNECT_TIMEOUT} ms`);
    outgoing.destroy(Object.assign(error, { code: "ERR_CONNECT_TIMEOUT" }));
  }, CONNECT_TIMEOUT);
  const stop = (): void => clearTimeout(timer);
  outgoing.once("close", stop);
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket) stop();
    else socket.once(protocol === "https:" ? "secureConnect" : "connect", stop);
  });
  outgoing.setTimeout(IDLE_TIMEOUT, () => outgoing.destroy(new Error(`${host} was silent for ${IDLE_TIMEOUT} ms`)));
}

function responseOf(url: string, incoming: IncomingMessage): HttpResponse {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new HeaderFields();
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  const body = bodyOf(decoded(incoming, headers.get("content-encoding")));
  return { status, statusText, ok: status >= 200 && status < 300, type: "basic", headers, url, body };
}

/** Reads from the socket only when the caller reads. */
function bodyOf(stream: Readable): ResponseBody {
  const pieces = (): AsyncIterator<Uint8Array> => stream[Symbol.asyncIterator]();
  const cancel = async (): Promise<void> => {
    stream.destroy();
  };
  return {
    cancel,
    getReader() {
      const reading = pieces();
      return {
        async read() {
          const piece: IteratorResult<Uint8Array, unknown> = await reading.next();
          return piece.done === true ? { done: true } : { done: false, value: piece.value };
        },
        cancel,
      };
    },
    [Symbol.asyncIterator]: pieces,
  };
}
