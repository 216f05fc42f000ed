import type { ChallengeProblem } from "../auth/verify/contract.ts";
import { A2AError } from "../protocol/error.ts";
import type { Operation, OperationRequest, SendRequest } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Call } from "./call.ts";
import { type PolicySubject, policyFailure } from "./policy.ts";
import { taskNotFound } from "./refusals.ts";
import { checkRequirements } from "./security-requirements.ts";
import type { Service } from "./service.ts";

/** Throws if the caller may not perform the request. Called before any lookup, so that the error does not reveal which tasks exist. */
export function authorize(service: Service, call: Call, request: OperationRequest): void {
  const { principal } = call;
  const { tenant } = principal;
  if (tenant !== undefined && request.tenant !== "" && request.tenant !== tenant) throw otherTenant(request);
  const policies = service.security?.policies ?? [];
  if (policies.length === 0) return;
  for (const operation of operationsOf(request)) {
    const failure = policyFailure(policies, { ...subjectOf(service, call, request), operation }, principal);
    if (failure !== undefined) throw denied(service, call, failure);
  }
}

/**
 * Throws if a caller may not send messages to an agent of this server, when another agent does so for it. Returns what checks its skills, as
 * {@link skillGuard}.
 */
export function authorizeCall(
  service: Pick<Service, "agent" | "security">,
  principal: Principal,
  tenant: string,
): ((skill: string) => void) | undefined {
  const { agent, security } = service;
  const call = { principal };
  const required = security?.declare(agent).security ?? agent.security ?? [];
  if (principal.schemes !== undefined) {
    const result = checkRequirements(required, principal.schemes);
    if (result.kind !== "met") throw denied(service, call, { scopes: [] });
  }
  const subject = { agent: agent.id, operation: "send", tenant: principal.tenant ?? tenant } as const;
  const failure = policyFailure(security?.policies ?? [], subject, principal);
  if (failure !== undefined) throw denied(service, call, failure);
  return skillGuard(service, call, { operation: "send", tenant });
}

/** A message with a webhook also counts as `push-create`. */
function operationsOf(request: OperationRequest): readonly Operation[] {
  const { operation } = request;
  return "push" in request && request.push !== undefined ? [operation, "push-create"] : [operation];
}

/** Throws if the caller may not use this agent at all, and so may not read its private card. */
export function authorizeReader(service: Service, principal: Principal): void {
  const { agent, security } = service;
  const policies = security?.policies.filter(({ operation }) => operation === undefined) ?? [];
  // These policies apply to all operations, so the operation does not matter.
  const subject = { agent: agent.id, operation: "extended-card", tenant: principal.tenant ?? "" } as const;
  const failure = policyFailure(policies, subject, principal);
  if (failure !== undefined) throw denied(service, { principal }, failure);
}

/** A function that throws if the caller may not use a skill. `undefined`: every caller may use every skill. */
export function skillGuard(
  service: Pick<Service, "agent" | "security">,
  call: Pick<Call, "principal">,
  request: Pick<SendRequest, "operation" | "tenant">,
): ((skill: string) => void) | undefined {
  const { agent, security } = service;
  const policies = security?.policies.filter(({ skill }) => skill !== undefined) ?? [];
  const { schemes } = call.principal;
  // Without schemes, a custom authenticator must enforce the requirements of skills.
  const isDeclared = schemes !== undefined && agent.skills?.some((skill) => (skill.security?.length ?? 0) > 0) === true;
  if (!isDeclared && policies.length === 0) return undefined;
  return (id) => {
    const required = agent.skills?.find((skill) => skill.id === id)?.security ?? [];
    const result = schemes === undefined ? undefined : checkRequirements(required, schemes);
    if (result?.kind === "schemes")
      throw otherCredentials(
        service,
        required.flatMap((names) => Object.keys(names)),
      );
    if (result?.kind === "scopes") throw denied(service, call, { scopes: result.missing, skill: id });
    const failure = policyFailure(policies, { ...subjectOf(service, call, request), skill: id }, call.principal);
    if (failure !== undefined) throw denied(service, call, { ...failure, skill: id });
  };
}

function subjectOf(
  { agent }: Pick<Service, "agent">,
  { principal }: Pick<Call, "principal">,
  { operation, tenant }: Pick<OperationRequest, "operation" | "tenant">,
): PolicySubject {
  return { agent: agent.id, operation, tenant: principal.tenant ?? tenant };
}

/** A task of another tenant is `task-not-found`, like one that does not exist; other requests are denied. */
function otherTenant(request: OperationRequest): A2AError {
  const taskId = "taskId" in request ? request.taskId : "id" in request ? request.id : undefined;
  return taskId === undefined
    ? new A2AError("permission-denied", "The credentials are for another tenant")
    : taskNotFound(taskId);
}

function otherCredentials({ security }: Pick<Service, "security">, schemes: readonly string[]): A2AError {
  return new A2AError("unauthenticated", "This skill requires other credentials", {
    challenges: security?.challenges([...new Set(schemes)]) ?? [],
  });
}

/** Anonymous caller: `unauthenticated` (401); otherwise `permission-denied` (403). */
function denied(
  { security }: Pick<Service, "security">,
  { principal }: Pick<Call, "principal">,
  lacking: { readonly scopes: readonly string[]; readonly skill?: string },
): A2AError {
  if (principal.anonymous) {
    return new A2AError("unauthenticated", "Authentication is required", { challenges: security?.challenges() ?? [] });
  }
  const problem: ChallengeProblem = { error: "insufficient_scope", scopes: lacking.scopes };
  const { skill } = lacking;
  const text =
    skill === undefined
      ? "The caller lacks the permission for this operation"
      : `Forbidden: Insufficient permissions for skill '${skill}'`;
  return new A2AError("permission-denied", text, {
    ...(skill !== undefined && { metadata: { skill } }),
    challenges:
      lacking.scopes.length === 0 ? [] : (security?.challenges(Object.keys(principal.schemes ?? {}), problem) ?? []),
  });
}
