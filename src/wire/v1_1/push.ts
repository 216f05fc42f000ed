import type { PushCodec } from "../codec.ts";
import { PUSH as OLDER } from "../v1_0/push.ts";
import { encodeEvent } from "./event.ts";
import { encodeTask } from "./task.ts";

export const PUSH: PushCodec = { ...OLDER, encodeEvent, encodeTask: (task) => `{"task":${encodeTask(task)}}` };
