import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { href } from "../app/place.ts";
import { connection } from "../data/connection.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { TaskRow } from "../data/operator-types.ts";
import { Button } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { CopyTask } from "./copy-task.tsx";

export interface TaskActionsProps {
  readonly task: TaskRow;
  readonly isEnded: boolean;
}

/** The URL that sends the first message of a task again, in a new conversation. */
export function runAgainUrl({ agent, key }: TaskRow): string {
  return href(`agents/${encodeURIComponent(agent)}/chat?again=${encodeURIComponent(key)}`);
}

/** Open the conversation, send the same message again, cancel. */
export function TaskActions({ task, isEnded }: TaskActionsProps): JSX.Element {
  const chat = `agents/${encodeURIComponent(task.agent)}/chat`;
  return (
    <>
      {task.owner === "anonymous" && (
        <a class="button" href={href(`${chat}/${encodeURIComponent(task.contextId)}`)}>
          <Icon name="chat" />
          <span class="wide-only">Open chat</span>
          <span class="hidden narrow-only">Open chat</span>
        </a>
      )}
      <a class="button" href={runAgainUrl(task)} title="Send the same message again (R)">
        <Icon name="again" />
        <span class="wide-only">Run again</span>
        <span class="hidden narrow-only">Run again</span>
      </a>
      <CopyTask task={task} />
      {!isEnded && <CancelButton task={task} />}
    </>
  );
}

const STEPS = { first: "Cancel task", sure: "Cancel it now", sent: "Canceling" } as const;

/** Cancels after a second click. */
function CancelButton({ task }: { readonly task: TaskRow }): JSX.Element {
  const [step, setStep] = useState<"first" | "sure" | "sent">("first");
  const [failure, setFailure] = useState("");
  const cancel = async (): Promise<void> => {
    setStep("sent");
    try {
      await operatorApi.cancel(task.key);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setStep("first");
    }
  };
  return (
    <>
      {failure !== "" && <small class="bad">{failure}</small>}
      <Button
        kind="danger"
        icon="stop"
        disabled={step === "sent" || connection.value.lostAt !== undefined}
        onClick={() => (step === "sure" ? void cancel() : setStep("sure"))}
      >
        <span class={step === "first" ? "wide-only" : ""}>{STEPS[step]}</span>
        {step === "first" && <span class="hidden narrow-only">Cancel task</span>}
      </Button>
    </>
  );
}
