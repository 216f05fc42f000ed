import type { JsonValue } from "../../protocol/json.ts";
import type { FrameworkAnswer, FrameworkQuestion } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { LangGraphInterrupt, LangGraphSnapshot } from "./graph.ts";

/** A tool call in the form of LangChain's `humanInTheLoopMiddleware`. */
interface ActionRequest {
  readonly name: string;
  readonly args?: unknown;
}

/** The questions of a graph that is interrupted; none if it has finished. */
export function questionsOf({ next, tasks }: LangGraphSnapshot): readonly FrameworkQuestion[] {
  const interrupts = tasks.flatMap((task) => task.interrupts ?? []);
  if (interrupts.length === 0 && next.length > 0)
    return [
      { kind: "input", key: PAUSE, question: `The agent is paused before ${next.join(", ")}. Answer to continue.` },
    ];
  return interrupts.flatMap(interruptQuestions);
}

/** The value to resume the graph with: per interrupt, or `undefined` if the graph was only paused. */
export function resumeValue(answers: readonly FrameworkAnswer[]): JsonValue | undefined {
  const byInterrupt = new Map<string, JsonValue[]>();
  let isSingle = false;
  for (const answer of answers) {
    if (answer.key === PAUSE) return undefined;
    const [id = ""] = answer.key.split("/");
    if (id === "") isSingle = true;
    byInterrupt.set(id, [...(byInterrupt.get(id) ?? []), ...answerValue(answer)]);
  }
  const values = Array.from(byInterrupt, ([id, given]): [string, JsonValue] => {
    const isDecision = answers.some(({ kind, key }) => kind === "approval" && key.startsWith(`${id}/`));
    return [id, isDecision ? { decisions: given } : (given[0] ?? null)];
  });
  return isSingle ? values[0]?.[1] : Object.fromEntries(values);
}

/** The key of the question for a graph with `interruptBefore` or `interruptAfter`. */
const PAUSE = "pause";

function interruptQuestions({ id = "", value }: LangGraphInterrupt): readonly FrameworkQuestion[] {
  const actions = actionRequests(value);
  if (actions !== undefined)
    return actions.map(({ name, args }, index) => ({
      kind: "approval",
      key: `${id}/${index}`,
      name,
      input: jsonOf(args ?? {}),
    }));
  const data = jsonOf(value);
  return [{ kind: "input", key: id, question: typeof data === "string" ? data : questionParts(data) }];
}

function questionParts(data: JsonValue): readonly ({ readonly text: string } | { readonly data: JsonValue })[] {
  const members = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
  const { question, message } = members as Readonly<Record<string, JsonValue | undefined>>;
  const text = [question, message].find((member) => typeof member === "string") ?? "The agent needs an answer.";
  return [{ text }, { data }];
}

function answerValue(answer: FrameworkAnswer): readonly JsonValue[] {
  if (answer.kind === "input") return [answer.value];
  if (answer.kind !== "approval") return [];
  const { approved, reason } = answer.decision;
  if (approved) return [{ type: "approve" }];
  return [{ type: "reject", message: reason ?? "The caller declined this call." }];
}

function actionRequests(value: unknown): readonly ActionRequest[] | undefined {
  if (typeof value !== "object" || value === null || !("actionRequests" in value)) return undefined;
  const { actionRequests: actions } = value;
  return Array.isArray(actions) && actions.length > 0 && actions.every(isActionRequest) ? actions : undefined;
}

function isActionRequest(action: unknown): action is ActionRequest {
  return typeof action === "object" && action !== null && "name" in action && typeof action.name === "string";
}
