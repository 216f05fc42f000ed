import { generationOf } from "../../protocol/generation.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { encodeTask as encodeOlder } from "../v1_0/task.ts";

/** As in 1.0, with `generation`, which ProtoJSON writes as text. */
export function encodeTask(task: StoredTask): string {
  return `${encodeOlder(task).slice(0, -1)},"generation":"${generationOf(task.seq)}"}`;
}
