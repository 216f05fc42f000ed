import type { ChallengeProblem } from "../auth/verify/contract.ts";
import { A2AError } from "../protocol/error.ts";
import type { Operation, OperationRequest, SendRequest } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Call } from "./call.ts";
import { type PolicySubject, policyFailure } from "./policy.ts";
import { taskNotFound } from "./refusals.ts";
import { judge } from "./security-requirements.ts";
import type { Service } from "./service.ts";

/** Throws where the caller may not do this. Nothing has been looked up before: the answer tells nothing of what there is. */
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

/** A message that names a webhook sets it as well. */
function operationsOf(request: OperationRequest): readonly Operation[] {
  const { operation } = request;
  return "push" in request && request.push !== undefined ? [operation, "push-create"] : [operation];
}

/** Throws where the caller may do nothing at all with this agent, whose card is not for everybody. */
export function authorizeReader(service: Service, principal: Principal): void {
  const { agent, security } = service;
  const policies = security?.policies.filter(({ operation }) => operation === undefined) ?? [];
  // Of policies for whatever is done the operation is not looked at.
  const subject = { agent: agent.id, operation: "extended-card", tenant: principal.tenant ?? "" } as const;
  const failure = policyFailure(policies, subject, principal);
  if (failure !== undefined) throw denied(service, { principal }, failure);
}

/** Throws where the caller may not use the skill that its message is for. `undefined`: all may be used by all. */
export function skillGuard(service: Service, call: Call, request: SendRequest): ((skill: string) => void) | undefined {
  const { agent, security } = service;
  const policies = security?.policies.filter(({ skill }) => skill !== undefined) ?? [];
  const { schemes } = call.principal;
  // Without schemes it is the host's own authenticator that keeps to what skills require.
  const isDeclared = schemes !== undefined && agent.skills?.some((skill) => (skill.security?.length ?? 0) > 0) === true;
  if (!isDeclared && policies.length === 0) return undefined;
  return (id) => {
    const required = agent.skills?.find((skill) => skill.id === id)?.security ?? [];
    const judgement = schemes === undefined ? undefined : judge(required, schemes);
    if (judgement?.kind === "schemes")
      throw needs(
        service,
        required.flatMap((names) => Object.keys(names)),
      );
    if (judgement?.kind === "scopes") throw denied(service, call, { scopes: judgement.missing, skill: id });
    const failure = policyFailure(policies, { ...subjectOf(service, call, request), skill: id }, call.principal);
    if (failure !== undefined) throw denied(service, call, { ...failure, skill: id });
  };
}

function subjectOf({ agent }: Service, { principal }: Call, { operation, tenant }: OperationRequest): PolicySubject {
  return { agent: agent.id, operation, tenant: principal.tenant ?? tenant };
}

/** A task in another tenant is as good as none; whatever else is asked for there is refused. */
function otherTenant(request: OperationRequest): A2AError {
  const taskId = "taskId" in request ? request.taskId : "id" in request ? request.id : undefined;
  return taskId === undefined
    ? new A2AError("permission-denied", "The credentials are for another tenant")
    : taskNotFound(taskId);
}

function needs({ security }: Service, schemes: readonly string[]): A2AError {
  return new A2AError("unauthenticated", "This skill needs other credentials", {
    challenges: security?.challenges([...new Set(schemes)]) ?? [],
  });
}

/** Who has not said who it is, is asked to; everybody else lacks something. */
function denied(
  { security }: Service,
  { principal }: Pick<Call, "principal">,
  lacking: { readonly scopes: readonly string[]; readonly skill?: string },
): A2AError {
  if (principal.anonymous) {
    return new A2AError("unauthenticated", "Authentication is required", { challenges: security?.challenges() ?? [] });
  }
  const problem: ChallengeProblem = { error: "insufficient_scope", scopes: lacking.scopes };
  const { skill } = lacking;
  const text =
    skill === undefined ? "The caller may not do this" : `Forbidden: Insufficient permissions for skill '${skill}'`;
  return new A2AError("permission-denied", text, {
    ...(skill !== undefined && { metadata: { skill } }),
    challenges:
      lacking.scopes.length === 0 ? [] : (security?.challenges(Object.keys(principal.schemes ?? {}), problem) ?? []),
  });
}
