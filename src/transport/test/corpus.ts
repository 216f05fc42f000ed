import { expect } from "vitest";
import type { Loose, Site } from "./faces.ts";

/** One invalid request, and the expected answer: its status, its reason and the wrong field. */
export interface Row {
  readonly name: string;
  /** Method and path, such as `GET /tasks`. */
  readonly line: string;
  /** A value that is neither text nor bytes is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Such as `400 INVALID_PARAMS message.parts[0]`. */
  readonly answer: string;
}

/** Summarizes an answer in one line, which also says if the answer does not have the format of its version. */
export type Reader = (response: Response) => Promise<string>;

/** Sends every row and compares all answers at once, so that a failure shows all differences. No task may have been started. */
export async function expectAnswers(site: Site, rows: readonly Row[], read: Reader): Promise<void> {
  const answers: string[] = [];
  for (const row of rows) answers.push(`${titleOf(row)} → ${await read(await send(site, row))}`);
  expect(answers).toEqual(rows.map((row) => `${titleOf(row)} → ${row.answer}`));
  expect(answers.filter((answer) => answer.includes("→ 500"))).toEqual([]);
  expect(site.engine.submissions).toHaveLength(0);
}

export function send(site: Site, { line, body, headers }: Pick<Row, "line" | "body" | "headers">): Promise<Response> {
  const [method = "", path = ""] = line.split(" ");
  if (body === undefined) return site.request(path, { method, ...(headers !== undefined && { headers }) });
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  return site.request(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    // Safe: the tests create the bytes, which are not shared.
    body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
  });
}

function titleOf({ name, line }: Row): string {
  return `${line.slice(0, 120)}: ${name}`;
}

/** A short description of a value for the name of a row. */
export function sketch(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 160 ? `${text.slice(0, 100)}… (${text.length} characters)` : text;
}

/** Reads errors of REST 1.0. */
export const latestRest: Reader = async (response) => {
  const { error }: Loose = await response.json();
  const [info, bad] = error?.details ?? [];
  const isInForm =
    sameMembers(error, ["code", "status", "message", "details"]) &&
    error.code === response.status &&
    isText(error.message) &&
    /^[A-Z_]+$/.test(error.status) &&
    sameMembers(info, ["@type", "reason", "domain", "metadata"]) &&
    (bad === undefined || isText(bad.fieldViolations[0].description)) &&
    /^application\/(a2a\+)?json$/.test(response.headers.get("content-type") ?? "");
  return lineOf(response, isInForm, [info?.reason, bad?.fieldViolations[0].field]);
};

/** Reads errors of REST 0.3, in either style. */
export const earlierRest: Reader = async (response) => {
  const { error, ...body }: Loose = await response.json();
  // The answer contains the error twice: bare, and as `error`.
  const isInForm = isEarlierError(body, response) && JSON.stringify(error) === JSON.stringify(body);
  return lineOf(response, isInForm, [body?.data?.reason, body?.data?.violations?.[0].field]);
};

/** Reads errors of JSON-RPC 0.3; includes the id if it is not 1. */
export const earlierRpc: Reader = async (response) => {
  const { jsonrpc, id, error }: Loose = await response.json();
  const isInForm = jsonrpc === "2.0" && isEarlierError(error, response);
  const field = error?.data?.violations?.[0].field;
  return lineOf(response, isInForm, [error?.code, field, id === 1 ? undefined : `(${JSON.stringify(id)})`]);
};

function isEarlierError(error: Loose, response: Response): boolean {
  return (
    sameMembers(error, ["code", "message", "data"]) &&
    Number.isInteger(error.code) &&
    isText(error.message) &&
    isText(error.data.reason) &&
    response.headers.get("content-type") === "application/json"
  );
}

function lineOf({ status }: Response, isInForm: boolean, facts: readonly (string | number | undefined)[]): string {
  const summary = [status, ...facts].filter((fact) => fact !== undefined).join(" ");
  return isInForm ? summary : `${summary} (not in its form)`;
}

function sameMembers(value: Loose, members: readonly string[]): boolean {
  return JSON.stringify(Object.keys(value ?? {}).toSorted()) === JSON.stringify(members.toSorted());
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
