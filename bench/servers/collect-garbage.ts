import { type InspectorNotification, type NodeWorker, Session } from "node:inspector";

/** Number of passes: finalizers of one pass free what the next collects. */
const PASSES = 4;

/** Collects the garbage of this thread and of all its workers, so that only memory in use remains. */
export async function collectGarbage(): Promise<void> {
  for (let pass = 0; pass < PASSES; pass += 1) {
    globalThis.gc?.();
    await pause(50);
  }
  await collectInWorkers();
}

/** Garbage of a worker can be collected from outside only through the inspector, which needs no port for that. */
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
