import { TaskState } from "a2a-sdk-v1";
import { ServerCallContext, type TaskStore, UnauthenticatedUser } from "a2a-sdk-v1/server";
import { artifactOf, statusOf } from "./sdk-executor.ts";
import { ANSWER } from "./workload.ts";

/** Puts finished tasks into the official SDK's store, through its own interface. */
export async function fillStore(store: TaskStore, count: number): Promise<void> {
  const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: "1.0" });
  const newest = Date.now();
  for (let index = 0; index < count; index += 1) {
    await store.save(
      {
        id: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`,
        contextId: `00000000-0000-7000-9000-${String(index % 1000).padStart(12, "0")}`,
        status: statusOf(TaskState.TASK_STATE_COMPLETED, new Date(newest - index * 1000).toISOString()),
        artifacts: [artifactOf(ANSWER)],
        history: [],
        metadata: undefined,
      },
      context,
    );
  }
}
