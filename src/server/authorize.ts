import type { ChallengeProblem } from "../auth/verify/contract.ts";
import { A2AError } from "../protocol/error.ts";
import type { OperationRequest, SendRequest } from "../protocol/operation.ts";
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
  const failure = policyFailure(policies, subjectOf(service, call, request), principal);
  if (failure !== undefined) throw denied(service, call, failure);
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
    if (judgement?.kind === "scopes") throw denied(service, call, { scopes: judgement.missing });
    const failure = policyFailure(policies, { ...subjectOf(service, call, request), skill: id }, call.principal);
    if (failure !== undefined) throw denied(service, call, failure);
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
function denied({ security }: Service, { principal }: Call, lacking: { readonly scopes: readonly string[] }): A2AError {
  if (principal.anonymous) {
    return new A2AError("unauthenticated", "Authentication is needed", { challenges: security?.challenges() ?? [] });
  }
  const problem: ChallengeProblem = { error: "insufficient_scope", scopes: lacking.scopes };
  return new A2AError("permission-denied", "The caller may not do this", {
    challenges:
      lacking.scopes.length === 0 ? [] : (security?.challenges(Object.keys(principal.schemes ?? {}), problem) ?? []),
  });
}
