import type { TaskId } from "../protocol/ids.ts";
import type { TaskState } from "../protocol/state.ts";
import type { TaskStatus } from "../protocol/task.ts";
import type { AgentHost } from "./agent-host.ts";
import { answerQuestion, canAnswer } from "./answer-question.ts";
import type { CallOptions, RemoteStream, RemoteStreamEvent, Said, SendOptions, StreamOptions } from "./api.ts";
import { TaskFollower } from "./follow/follow.ts";
import { TaskView } from "./follow/task-view.ts";
import { createDeadline } from "./http/abort.ts";
import { createRemoteStream } from "./remote-stream.ts";
import { messageOf, sendRequest } from "./said.ts";

/** Sends a message and streams its events, including those after questions that `tools` or `onInput` answer. */
export function streamMessage(host: AgentHost, said: Said, options: SendOptions & StreamOptions): RemoteStream {
  const view = new TaskView({ result: options.result, maxBytes: host.settings.maxResultBytes });
  return createRemoteStream({ events: turns(host, { said, options, view }), task: () => view.task });
}

/** Streams the events of an existing task. */
export function streamTask(host: AgentHost, id: TaskId, options: CallOptions & StreamOptions): RemoteStream {
  const view = new TaskView({ result: options.result, maxBytes: host.settings.maxResultBytes });
  return createRemoteStream({ events: following(host, { id, options, view }), task: () => view.task });
}

interface Streaming {
  readonly said: Said;
  readonly options: SendOptions;
  readonly view: TaskView;
}

async function* turns(host: AgentHost, { said, options, view }: Streaming): AsyncGenerator<RemoteStreamEvent, void> {
  const { timeout, taskId } = options;
  const deadline = createDeadline(host.settings.clock, {
    signal: options.signal,
    timeout,
    taskId: () => view.id || taskId,
  });
  const { signal } = deadline;
  try {
    let message = messageOf(said, options);
    let answered: TaskStatus | undefined;
    let cursor: string | undefined;
    for (;;) {
      const follower = new TaskFollower({ host, view, signal, stopsAt: isQuestion, answered, cursor });
      for await (const event of follower.send(sendRequest(message, options, { ...STREAM, tenant: host.tenant }))) {
        yield event;
        if (event.kind === "message") return;
      }
      const task = view.known;
      if (task?.status.state !== "input-required" || !canAnswer(options)) return;
      const answer = await answerQuestion(task, options, signal);
      if (answer === undefined) return;
      answered = task.status;
      cursor = follower.cursor;
      message = messageOf(answer, { taskId: task.id, contextId: task.contextId });
    }
  } finally {
    deadline.release();
  }
}

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

async function* following(host: AgentHost, { id, options, view }: Following): AsyncGenerator<RemoteStreamEvent, void> {
  const deadline = createDeadline(host.settings.clock, { ...options, taskId: () => id });
  try {
    yield* new TaskFollower({ host, view, signal: deadline.signal, stopsAt: () => false }).subscribe(id);
  } finally {
    deadline.release();
  }
}
