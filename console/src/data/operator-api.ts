import { SERVER_URL } from "../app/place.ts";
import { forgetSession, sessionToken } from "../app/session.ts";
import { noteAnswer, noteFailure } from "./connection.ts";
import type {
  DeadLetters,
  EventPage,
  Metric,
  NodesAnswer,
  ServerAnswer,
  TaskAnswer,
  TaskPage,
  Webhook,
} from "./operator-types.ts";
import type { OutlineAnswer, SnapshotAnswer, TraceAnswer } from "./task-types.ts";

/** The operator API could not answer. `status` is 0 if there was no answer at all. */
export class ApiError extends Error {
  readonly status: number;
  readonly request: string;
  /** What the server says about the error for programs. */
  readonly details: Readonly<Record<string, string>>;

  /** `answer`: the status, or the status with the details. */
  constructor(
    message: string,
    answer: number | { readonly status: number; readonly details: ApiError["details"] },
    request: string,
  ) {
    super(message);
    this.status = typeof answer === "number" ? answer : answer.status;
    this.request = request;
    this.details = typeof answer === "number" ? {} : answer.details;
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

interface RequestOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal;
  /** Sent as JSON with `POST`. */
  readonly body?: object;
}

/** Requests `/operator/v1/{path}`. Rejects with an {@link ApiError}, or the reason of `signal`. */
async function request<T>(path: string, { query = {}, signal, body }: RequestOptions = {}): Promise<T> {
  const url = new URL(`${SERVER_URL}/operator/v1/${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
  const shown = `${body === undefined ? "GET" : "POST"} ${url.pathname}${url.search}`;
  const token = sessionToken.peek()?.token;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    noteFailure();
    throw new ApiError("The server does not answer.", 0, shown);
  }
  noteAnswer();
  if (response.ok) return JSON.parse(text) as T;
  if (response.status === 401) forgetSession();
  const { message = `The server answered ${response.status}.`, details = {} } = errorIn(text);
  throw new ApiError(message, { status: response.status, details }, shown);
}

function errorIn(text: string): { readonly message?: string; readonly details?: ApiError["details"] } {
  try {
    const { error } = JSON.parse(text) as { readonly error?: ReturnType<typeof errorIn> };
    return error ?? {};
  } catch {
    return {};
  }
}

/** The operator API. Every method rejects with an {@link ApiError}. */
export const operatorApi = {
  server: (signal?: AbortSignal) => request<ServerAnswer>("server", withSignal(signal)),
  nodes: (signal?: AbortSignal) => request<NodesAnswer>("nodes", withSignal(signal)),
  tasks: (query: Query, signal?: AbortSignal) => request<TaskPage>("tasks", { query, ...withSignal(signal) }),
  task: (key: string, query: Query = {}, signal?: AbortSignal) =>
    request<TaskAnswer>(`tasks/${encodeURIComponent(key)}`, { query, ...withSignal(signal) }),
  events: (
    key: string,
    query: { readonly after: number; readonly wait?: number; readonly limit?: number },
    signal?: AbortSignal,
  ) => request<EventPage>(`tasks/${encodeURIComponent(key)}/events`, { query, ...withSignal(signal) }),
  outline: (key: string, query: Query, signal?: AbortSignal) =>
    request<OutlineAnswer>(`tasks/${encodeURIComponent(key)}/outline`, { query, ...withSignal(signal) }),
  snapshot: (key: string, seq: number, signal?: AbortSignal) =>
    request<SnapshotAnswer>(`tasks/${encodeURIComponent(key)}/snapshot`, { query: { seq }, ...withSignal(signal) }),
  trace: (key: string, signal?: AbortSignal) =>
    request<TraceAnswer>(`tasks/${encodeURIComponent(key)}/trace`, withSignal(signal)),
  webhooksOf: (key: string, signal?: AbortSignal) =>
    request<{ readonly webhooks: readonly Webhook[] }>(`tasks/${encodeURIComponent(key)}/webhooks`, withSignal(signal)),
  webhooks: (signal?: AbortSignal) =>
    request<{ readonly webhooks: readonly Webhook[] }>("webhooks", withSignal(signal)),
  deadLetters: (query: Query, signal?: AbortSignal) =>
    request<DeadLetters>("dead-letters", { query, ...withSignal(signal) }),
  answer: (key: string, body: object) => request<object>(`tasks/${encodeURIComponent(key)}/answer`, { body }),
  cancel: (key: string) => request<object>(`tasks/${encodeURIComponent(key)}/cancel`, { body: {} }),
  redeliver: (letter: object) => request<object>("dead-letters/redeliver", { body: letter }),
  metrics: (signal?: AbortSignal) => request<{ readonly metrics: readonly Metric[] }>("metrics", withSignal(signal)),
} as const satisfies Record<string, (...values: never[]) => Promise<unknown>>;

function withSignal(signal: AbortSignal | undefined): RequestOptions {
  return signal === undefined ? {} : { signal };
}
