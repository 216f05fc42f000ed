import type { ServerProcess } from "../server-process.ts";
import { ANSWER } from "../servers/workload.ts";
import { call } from "./call.ts";
import { getBody, sendBody } from "./requests.ts";

const SENDERS = 32;

/** Creates finished tasks; resolves with their ids. */
export async function makeTasks({ port }: ServerProcess, count: number): Promise<string[]> {
  const ids: string[] = [];
  let begun = 0;
  const sendOn = async () => {
    while (begun < count) {
      begun += 1;
      const { task } = await call(port, sendBody({ kind: "answer" }));
      if (task === undefined) throw new Error("A send created no task.");
      ids.push(task.id);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendOn));
  return ids;
}

/** Rejects unless a get of the task returns it with its answer. */
export async function checkGet({ label, port }: ServerProcess, id: string): Promise<void> {
  const task = await call(port, getBody(id));
  const text = JSON.stringify(task);
  if (task.id !== id || !text.includes(ANSWER)) throw new Error(`${label} returned an unexpected task: ${text}`);
}
