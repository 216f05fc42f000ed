import type { Reduction } from "../dialect-client.ts";
import { type Artifact, type Frame, type Message, NO_SUCH_MEMBER, type Status, type Task } from "../neutral.ts";
import { RULES_0_1 } from "./v0-1-shapes.ts";

/** Reduces to 0.1: no ids except of tasks and sessions, numbered artifacts, six states. */
export const REDUCTION_0_1: Reduction = {
  task: reducedTask,
  frames(frames) {
    const numbers: string[] = [];
    const numbered = (artifact: Artifact): Artifact => {
      if (!numbers.includes(artifact.artifactId)) numbers.push(artifact.artifactId);
      return lessArtifact(artifact, numbers.indexOf(artifact.artifactId));
    };
    return frames.map((frame) => lessFrame(frame, numbered));
  },
};

function reducedTask(task: Task): Task {
  const { artifacts, history } = task;
  return {
    ...task,
    status: lessStatus(task.status),
    ...(artifacts !== undefined && { artifacts: artifacts.map(lessArtifact) }),
    ...(history !== undefined && { history: history.map(lessMessage) }),
  };
}

function lessFrame(frame: Frame, numbered: (artifact: Artifact) => Artifact): Frame {
  switch (frame.kind) {
    case "task": {
      const { history: _untold, artifacts = [], ...task } = frame.task;
      const known = artifacts.length === 0 ? {} : { artifacts: artifacts.map(numbered) };
      return { ...frame, task: { ...task, contextId: NO_SUCH_MEMBER, status: lessStatus(task.status), ...known } };
    }
    case "status":
      return { ...frame, contextId: NO_SUCH_MEMBER, status: lessStatus(frame.status) };
    case "artifact":
      return { ...frame, contextId: NO_SUCH_MEMBER, artifact: numbered(frame.artifact) };
    case "message":
      return frame;
  }
}

function lessStatus(status: Status): Status {
  const { state, message } = status;
  return {
    ...status,
    state: RULES_0_1.insteadOf[state] ?? state,
    ...(message !== undefined && { message: lessMessage(message) }),
  };
}

function lessMessage({ role, parts, metadata }: Message): Message {
  return { messageId: NO_SUCH_MEMBER, role, parts, ...(metadata !== undefined && { metadata }) };
}

function lessArtifact({ extensions: _untold, ...artifact }: Artifact, index: number): Artifact {
  return { ...artifact, artifactId: String(index) };
}
