import type { TaskId } from "../protocol/ids.ts";
import type { TaskState } from "../protocol/state.ts";
import type { TaskStatus } from "../protocol/task.ts";
import type { AgentHost } from "./agent-host.ts";
import { answerQuestion, canAnswer } from "./answer-question.ts";
import type { CallOptions, MessageInput, RemoteStream, RemoteStreamEvent, SendOptions, StreamOptions } from "./api.ts";
import { TaskFollower } from "./follow/follow.ts";
import { TaskView } from "./follow/task-view.ts";
import { createDeadline } from "./http/abort.ts";
import { messageOf, sendRequest, withoutCondition } from "./message-input.ts";
import { createRemoteStream } from "./remote-stream.ts";

/** Sends a message and streams its events, including those after questions that `tools` or `onInput` answer. */
export function streamMessage(
  host: AgentHost,
  input: MessageInput,
  options: SendOptions & StreamOptions,
): RemoteStream {
  const view = new TaskView({ result: options.result, maxBytes: host.settings.maxResultBytes });
  return createRemoteStream({ events: turns(host, { input, options, view }), task: () => view.task });
}

/** Streams the events of an existing task. */
export function streamTask(host: AgentHost, id: TaskId, options: CallOptions & StreamOptions): RemoteStream {
  const view = new TaskView({ result: options.result, maxBytes: host.settings.maxResultBytes });
  return createRemoteStream({ events: following(host, { id, options, view }), task: () => view.task });
}

/** One message and the view that its events change. */
interface Streaming {
  readonly input: MessageInput;
  readonly options: SendOptions;
  readonly view: TaskView;
}

/**
 * One turn per message: the caller's, then one for each question that is answered. All turns share the view, so the reader sees one task.
 */
async function* turns(host: AgentHost, { input, options, view }: Streaming): AsyncGenerator<RemoteStreamEvent, void> {
  const { timeout, taskId, trace } = options;
  const deadline = createDeadline(host.settings.clock, {
    signal: options.signal,
    timeout,
    trace,
    taskId: () => view.id || taskId,
  });
  const { signal } = deadline;
  try {
    let message = messageOf(input, options);
    let answered: TaskStatus | undefined;
    let cursor: string | undefined;
    let turn = options;
    for (;;) {
      const follower = new TaskFollower({ host, view, signal, stopsAt: isQuestion, answered, cursor });
      for await (const event of follower.send(sendRequest(message, turn, { ...STREAM, tenant: host.tenant }))) {
        yield event;
        if (event.kind === "message") return;
      }
      const task = view.known;
      if (task?.status.state !== "input-required" || !canAnswer(options)) return;
      const answer = await answerQuestion(task, options, signal);
      if (answer === undefined) return;
      answered = task.status;
      cursor = follower.cursor;
      turn = withoutCondition(options);
      message = messageOf(answer, { taskId: task.id, contextId: task.contextId });
    }
  } finally {
    deadline.release();
  }
}

/** `waitMs` matters only if the agent answers without a stream. */
const STREAM = { operation: "stream", waitMs: Number.POSITIVE_INFINITY } as const;

/** Not `auth-required`: the authorization may arrive another way, and agents keep the stream open for it. */
function isQuestion(state: TaskState): boolean {
  return state === "input-required";
}

interface Following {
  readonly id: TaskId;
  readonly options: CallOptions;
  readonly view: TaskView;
}

/** A subscription does not stop at questions: another caller may answer them. */
async function* following(host: AgentHost, { id, options, view }: Following): AsyncGenerator<RemoteStreamEvent, void> {
  const deadline = createDeadline(host.settings.clock, { ...options, taskId: () => id });
  try {
    yield* new TaskFollower({ host, view, signal: deadline.signal, stopsAt: () => false }).subscribe(id);
  } finally {
    deadline.release();
  }
}
