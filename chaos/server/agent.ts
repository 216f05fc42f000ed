import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, agent, type TaskContext } from "../../src/engine/agent/agent.ts";
import type { Write } from "../journal.ts";
import type { Action, Script } from "../plan.ts";

export const AGENT_ID = "scripted";

/**
 * An agent that runs the script in its message. It writes everything it reads into artifacts: answers into `answers`,
 * messages that arrive meanwhile into `inbox`, and messages that were unread at the end of the script, each of which
 * starts another turn, into `late`.
 */
export function scriptedAgent(journal: Write): Agent {
  return agent({
    id: AGENT_ID,
    name: "Scripted",
    description: "Does what the script in its message says.",
    version: "1.0.0",
    async run(task) {
      const script = readScript(task.text);
      if (script === undefined) await task.artifact("late").write(`${task.text};`);
      else for (const action of script.actions) await perform(action, { task, script, journal });
    },
  });
}

interface Scene {
  readonly task: TaskContext;
  readonly script: Script;
  readonly journal: Write;
}

async function perform(action: Action, { task, script, journal }: Scene): Promise<void> {
  switch (action.do) {
    case "write":
      return write(task, action);
    case "status":
      return task.status(action.text);
    case "step": {
      const key = `${script.name}/${action.name}`;
      const value = await task.step(action.name, async ({ signal }) => {
        journal({ kind: "step", key, moment: "begin", pid: process.pid });
        await sleep(action.work, undefined, { signal });
        return `${action.name};`;
      });
      journal({ kind: "step", key, moment: "committed", pid: process.pid });
      return task.artifact("steps").write(value);
    }
    case "ask": {
      const answer = await task.ask(questionText(action.question));
      return task.artifact("answers").write(`${action.question}=${answer};`);
    }
    case "next":
      await task.status(readyText(action.messages));
      for (let read = 0; read < action.messages; read++) {
        const { parts } = await task.next();
        await task.artifact("inbox").write(`${parts.map(({ text = "" }) => text).join("")};`);
      }
      return;
    case "sleep":
      return task.sleep(action.time);
  }
}

async function write(task: TaskContext, { chunks, size, pause }: Extract<Action, { do: "write" }>): Promise<void> {
  const output = task.artifact("output");
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (pause > 0) await sleep(pause, undefined, { signal: task.signal });
    await output.write(chunkText(chunk, size));
  }
}

/** The text of the chunk with that number. */
export function chunkText(chunk: number, size: number): string {
  return `${chunk}:${"x".repeat(size)};`;
}

export function questionText(question: number): string {
  return `question ${question}`;
}

/** The status text that announces how many messages the agent waits for. */
export function readyText(messages: number): string {
  return `send ${messages}`;
}

/** `undefined`: the text is not a script. */
function readScript(text: string): Script | undefined {
  return text.startsWith("{") ? JSON.parse(text) : undefined;
}
