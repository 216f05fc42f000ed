import { type Workload, writeWorkload } from "../servers/workload.ts";

/** The headers of every request of the bench. */
export const HEADERS: Readonly<Record<string, string>> = { "Content-Type": "application/json", "A2A-Version": "1.0" };

let counter = 0;

/** A message id that is unique across processes. */
function uniqueId(): string {
  counter += 1;
  return `bench-${process.pid}-${counter}`;
}

/** The body of a send; blocking by default. */
export function sendBody(workload: Workload, configuration?: { readonly returnImmediately: boolean }): string {
  return rpc("SendMessage", { message: message(workload), ...(configuration !== undefined && { configuration }) });
}

export function streamBody(workload: Workload): string {
  return rpc("SendStreamingMessage", { message: message(workload) });
}

export function getBody(id: string): string {
  return rpc("GetTask", { id });
}

export function subscribeBody(id: string): string {
  return rpc("SubscribeToTask", { id });
}

export function cancelBody(id: string): string {
  return rpc("CancelTask", { id });
}

export interface ListParams {
  readonly contextId?: string;
  readonly status?: string;
  readonly statusTimestampAfter?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export function listBody(params: ListParams): string {
  return rpc("ListTasks", params);
}

function message(workload: Workload): object {
  return { messageId: uniqueId(), role: "ROLE_USER", parts: [{ text: writeWorkload(workload) }] };
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

interface RawOptions {
  /** The server closes the connection after its answer. */
  readonly isLast?: boolean;
  /** The stream has only the events after this one. */
  readonly lastEventId?: string;
}

/** A request in wire format, for clients that use sockets directly. */
export function rawRequest(port: number, body: string, { isLast = false, lastEventId = "" }: RawOptions = {}): string {
  const all = {
    ...HEADERS,
    ...(isLast && { Connection: "close" }),
    ...(lastEventId !== "" && { "Last-Event-ID": lastEventId }),
  };
  const headers = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers.join("")}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
