import { type InspectorNotification, type NodeWorker, Session } from "node:inspector";

/** Passes: finalizers of one pass free what the next collects. */
const PASSES = 4;

/** Collects the garbage of this thread and of all its workers, so that what is still in use afterwards is in use. */
export async function collectGarbage(): Promise<void> {
  for (let pass = 0; pass < PASSES; pass += 1) {
    globalThis.gc?.();
    await pause(50);
  }
  await collectInWorkers();
}

/** A worker's garbage can only be collected from outside through the inspector, which needs no port for that. */
async function collectInWorkers(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    session.on("NodeWorker.attachedToWorker", ({ params }: Attached) => {
      const message = JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" });
      for (let pass = 0; pass < PASSES; pass += 1) {
        session.post("NodeWorker.sendMessageToWorker", { sessionId: params.sessionId, message });
      }
    });
    session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
    await pause(300);
    session.post("NodeWorker.disable");
  } finally {
    session.disconnect();
  }
}

type Attached = InspectorNotification<NodeWorker.AttachedToWorkerEventDataType>;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
