import type { Model, ModelCall, ModelMessage } from "../../adapters/models/model-contract.ts";
import { type ScriptedAnswer, scriptedModel } from "../../adapters/models/scripted-model.ts";

/** One reply of the model: its text, or text and tool calls. */
export type ModelReplyInput = string | ScriptedAnswer;

/** A model with prepared replies. */
export interface PreparedModel extends Model {
  /** The calls that the model has got, in order: prompts and tools. */
  readonly calls: readonly ModelCall[];
}

/**
 * A model that gives these replies, one after the other, without a network or a key. The messages of the call decide which one comes next: the first
 * reply if they have no reply of the model yet, then the second, and so on. A call that is repeated after a crash therefore gets the same reply. A call after the last reply fails.
 */
export function modelReplies(replies: readonly ModelReplyInput[]): PreparedModel {
  const calls: ModelCall[] = [];
  const model = scriptedModel((messages) => replyTo(messages, replies));
  return {
    ...model,
    calls,
    doStream(call) {
      calls.push(call);
      return model.doStream(call);
    },
  };
}

function replyTo(messages: readonly ModelMessage[], replies: readonly ModelReplyInput[]): ScriptedAnswer {
  const given = messages.filter(({ role }) => role === "assistant").length;
  const reply = replies[given];
  if (reply === undefined) {
    const error = new Error(`The model was called for reply ${given + 1}, but the test has only ${replies.length}.`);
    // The model agent must not try again.
    throw Object.assign(error, { isRetryable: false });
  }
  return typeof reply === "string" ? { text: reply } : reply;
}
