import { randomBytes } from "node:crypto";
import type { RequestPermissionOutcome, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { AcpSettings, PermissionChoice, PermissionDecision, PermissionRequest } from "./acp-options.ts";

const MAX_SHOWN = 500;

/** Decides about a permission as the options say. */
export async function decidePermission(
  task: TaskContext,
  request: RequestPermissionRequest,
  permissions: AcpSettings["permissions"],
): Promise<RequestPermissionOutcome> {
  const asked = requestOf(request);
  const decision = await decided(task, asked, permissions);
  const option = optionFor(decision, asked.options);
  return option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option };
}

function requestOf({ toolCall, options }: RequestPermissionRequest): PermissionRequest {
  const { title, kind, rawInput } = toolCall;
  return {
    title: (title ?? "a tool call").slice(0, MAX_SHOWN),
    kind: kind ?? undefined,
    // Safe cast: it was parsed from JSON.
    input: rawInput as JsonValue | undefined,
    options: options.map(({ optionId: id, name, kind: meaning }) => ({ id, name, kind: meaning })),
  };
}

async function decided(
  task: TaskContext,
  request: PermissionRequest,
  permissions: AcpSettings["permissions"],
): Promise<PermissionDecision> {
  if (typeof permissions === "function") return permissions(request, task);
  if (permissions === "allow" || permissions === "deny") return permissions;
  return permissions === "caller" ? askCaller(task, request) : askOperator(task, request);
}

function optionFor(decision: PermissionDecision, options: readonly PermissionChoice[]): string | undefined {
  if (typeof decision === "object") return options.find(({ id }) => id === decision.option)?.id;
  const kinds = decision === "allow" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  return kinds.flatMap((kind) => options.find((option) => option.kind === kind)?.id ?? [])[0];
}

function askCaller(task: TaskContext, { title, input, options }: PermissionRequest): Promise<PermissionDecision> {
  const text = input === undefined ? "" : ` with ${JSON.stringify(input).slice(0, MAX_SHOWN)}`;
  const question = `May the agent do this: ${title}${text}? ${options.map(({ name }) => name).join(" / ")}`;
  const jsonSchema = {
    type: "object",
    properties: { option: { type: "string", enum: options.map(({ id }) => id) } },
    required: ["option"],
  };
  return task.ask(question, { name: `permission ${title}`, schema: choiceSchema(options), jsonSchema });
}

/** The id or the name of an option, `{ option }`, or yes and no. */
function choiceSchema(options: readonly PermissionChoice[]): StandardSchemaV1<unknown, PermissionDecision> {
  return schemaOf((answer) => {
    const given: unknown = typeof answer === "object" && answer !== null && "option" in answer ? answer.option : answer;
    const word = String(given).trim().toLowerCase();
    const found = options.find(({ id, name }) => id.toLowerCase() === word || name.toLowerCase() === word);
    return found === undefined ? plainDecision(word) : { option: found.id };
  }, "must be one of the options");
}

function plainDecision(word: string): PermissionDecision | undefined {
  if (["yes", "y", "allow", "true"].includes(word)) return "allow";
  return ["no", "n", "deny", "false"].includes(word) ? "deny" : undefined;
}

/**
 * The task waits, and only who knows the code can answer. The code is in the server's log, which callers do not see; it is stored, so that it is the same after a
 * restart.
 */
async function askOperator(task: TaskContext, { title, kind, input }: PermissionRequest): Promise<PermissionDecision> {
  const name = `operator ${title}`;
  const code = await task.step(name, () => randomBytes(9).toString("base64url"));
  task.log.warn('An agent asks for a permission. Decide with: palaver admin answer TASK "ANSWER"', {
    permission: title,
    ...(kind !== undefined && { kind }),
    ...(input !== undefined && { input: JSON.stringify(input).slice(0, MAX_SHOWN) }),
    answers: [`allow ${code}`, `deny ${code}`],
  });
  const schema = schemaOf((answer) => {
    const [word = "", given] = typeof answer === "string" ? answer.trim().split(/\s+/) : [];
    return given === code ? plainDecision(word.toLowerCase()) : undefined;
  }, "must have the code of the operator");
  return task.ask(`The agent waits for a permission of the operator: ${title}`, { name, schema });
}

function schemaOf(
  read: (answer: unknown) => PermissionDecision | undefined,
  message: string,
): StandardSchemaV1<unknown, PermissionDecision> {
  return {
    "~standard": {
      version: 1,
      vendor: "palaver",
      validate(answer) {
        const value = read(answer);
        return value === undefined ? { issues: [{ message }] } : { value };
      },
    },
  };
}
