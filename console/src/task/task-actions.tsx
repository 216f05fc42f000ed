import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { agentUrl, href } from "../app/place.ts";
import type { TaskRow, WireMessage } from "../data/operator-types.ts";
import { Button } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";

export interface TaskActionsProps {
  readonly task: TaskRow;
  /** The first message. */
  readonly message: WireMessage | undefined;
  readonly isEnded: boolean;
}

/** Open the conversation, send the same message again, cancel. */
export function TaskActions({ task, message, isEnded }: TaskActionsProps): JSX.Element {
  const chat = `agents/${encodeURIComponent(task.agent)}/chat`;
  const text = onlyText(message);
  return (
    <>
      {task.owner === "anonymous" && (
        <a class="button" href={href(`${chat}/${encodeURIComponent(task.contextId)}`)}>
          <Icon name="chat" />
          <span class="wide-only">Open chat</span>
          <span class="hidden narrow-only">Open chat</span>
        </a>
      )}
      {text !== undefined && (
        <a class="button" href={href(`${chat}?say=${encodeURIComponent(text)}`)}>
          <Icon name="again" />
          <span class="wide-only">Run again</span>
          <span class="hidden narrow-only">Run again</span>
        </a>
      )}
      {!isEnded && task.owner === "anonymous" && <CancelButton task={task} />}
    </>
  );
}

/** The text of a message that has nothing else. */
function onlyText(message: WireMessage | undefined): string | undefined {
  const parts = message?.parts ?? [];
  return parts.length > 0 && parts.every((part) => part.text !== undefined)
    ? parts.map((part) => part.text).join("")
    : undefined;
}

const STEPS = { first: "Cancel task", sure: "Cancel it now", sent: "Canceling" } as const;

/** Cancels after a second click. */
function CancelButton({ task }: { readonly task: TaskRow }): JSX.Element {
  const [step, setStep] = useState<"first" | "sure" | "sent">("first");
  const [failure, setFailure] = useState("");
  const cancel = async (): Promise<void> => {
    setStep("sent");
    try {
      const { connect } = await import("palaver/client");
      const agent = await connect(agentUrl(task.agent), { cache: false });
      await agent.task(task.id).cancel();
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
        disabled={step === "sent"}
        onClick={() => (step === "sure" ? void cancel() : setStep("sure"))}
      >
        <span class={step === "first" ? "wide-only" : ""}>{STEPS[step]}</span>
        {step === "first" && <span class="hidden narrow-only">Cancel task</span>}
      </Button>
    </>
  );
}
