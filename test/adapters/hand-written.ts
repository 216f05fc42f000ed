/** Unvalidated JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** A caller that uses plain HTTP and the JSON of one version. */
export interface HandWritten {
  /**
   * Returns all events of a stream. `parts` have the format of the version; with `taskId` the message continues that
   * task.
   */
  stream(parts: readonly Json[], taskId?: string): Promise<readonly Json[]>;
  cancel(taskId: string): Promise<Json>;
}

export function caller0_1(url: string): HandWritten {
  const call = async (method: string, params: Json): Promise<Response> =>
    fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "0.1" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const one = async (method: string, id: string): Promise<Json> =>
    member(await (await call(method, { id })).json(), "result");
  return {
    async stream(parts, id = crypto.randomUUID()) {
      const answer = await call("tasks/sendSubscribe", { id, message: { role: "user", parts } });
      return (await eventsOf(answer)).map((event) => member(event, "result"));
    },
    cancel: (id) => one("tasks/cancel", id),
  };
}

export function callerRest1_0(url: string): HandWritten {
  const headers = { "content-type": "application/a2a+json", "a2a-version": "1.0" };
  return {
    async stream(parts, taskId) {
      const message = {
        messageId: crypto.randomUUID(),
        role: "ROLE_USER",
        parts,
        ...(taskId !== undefined && { taskId }),
      };
      return eventsOf(
        await fetch(`${url}/message:stream`, { method: "POST", headers, body: JSON.stringify({ message }) }),
      );
    },
    cancel: async (id) =>
      (await fetch(`${url}/tasks/${id}:cancel`, { method: "POST", headers, body: "{}" })).json() as Promise<Json>,
  };
}

/** Returns the member of that name; throws unless it is an object. */
export function member(value: unknown, name: string): Json {
  const found = (value as Json)[name];
  if (typeof found !== "object" || found === null) throw new Error(`${name} is missing in ${JSON.stringify(value)}`);
  return found as Json;
}

async function eventsOf(answer: Response): Promise<readonly Json[]> {
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream"))
    throw new Error(`No stream: ${answer.status} ${await answer.text()}`);
  return (await answer.text())
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => JSON.parse(line.slice("data:".length)) as Json);
}
