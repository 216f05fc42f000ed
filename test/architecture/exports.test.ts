import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./imports.ts";

/** What each entry point gives, types included. Adding to a list is a promise to keep; taking from it breaks somebody. */
const EXPORTS: Readonly<Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>> = {
  ".": {
    values: [
      "A2AError",
      "ERROR_CODES",
      "StartupError",
      "TaskAborted",
      "TaskFailure",
      "agent",
      "createServer",
      "isInterrupted",
      "isTerminal",
      "serve",
      "skill",
      "textOf",
    ],
    types: [
      "A2AErrorOptions",
      "AbortCause",
      "Agent",
      "AgentCapabilities",
      "AgentCard",
      "AgentDefinition",
      "AgentExtension",
      "AgentInterface",
      "AgentProvider",
      "AgentSkill",
      "Answer",
      "Artifact",
      "ArtifactEvent",
      "ArtifactId",
      "ArtifactOptions",
      "ArtifactWriter",
      "AskOptions",
      "Authenticate",
      "CallRecord",
      "CardDefinition",
      "CardPromises",
      "ContextId",
      "DataPart",
      "DeclaredCapabilities",
      "DeclaredCard",
      "DialectOptions",
      "Durability",
      "EngineHooks",
      "ErrorCode",
      "ExtendedCard",
      "FieldViolation",
      "FileOutput",
      "IncomingRequest",
      "InputTimeout",
      "JsonObject",
      "JsonValue",
      "Limits",
      "Listening",
      "ListeningAt",
      "Logger",
      "Message",
      "MessageId",
      "OAuthFlow",
      "OAuthFlowName",
      "ObservableLike",
      "Output",
      "Part",
      "Principal",
      "PromisedInterface",
      "RawPart",
      "ReceivedFile",
      "ReplyCall",
      "RestartPolicy",
      "Retention",
      "Role",
      "RunFunction",
      "RunResult",
      "RunningServer",
      "Scope",
      "SecurityRequirement",
      "SecurityScheme",
      "ServeOptions",
      "Server",
      "ServerLimits",
      "ServerOptions",
      "Skill",
      "StatusEvent",
      "StepContext",
      "Store",
      "Task",
      "TaskContext",
      "TaskEvent",
      "TaskId",
      "TaskLog",
      "TaskRef",
      "TaskState",
      "TaskStatus",
      "TextPart",
      "TransportHooks",
      "UrlPart",
      "WaitDefault",
      "WaitingDialect",
    ],
  },
  "./plain": {
    values: [
      "NotFoundError",
      "PLAIN_BINDING",
      "ValidationError",
      "buildAgentCard",
      "buildAgentCardForAgent",
      "clearTaskStore",
      "handleTaskGet",
      "handleTaskSend",
    ],
    types: [
      "A2AAgentCard",
      "A2AAgentSkill",
      "A2AMessage",
      "A2ATask",
      "A2ATaskDeps",
      "A2ATaskSendRequest",
      "A2ATaskState",
    ],
  },
  "./testing": { values: ["storeContract"], types: ["OpenStore", "StoreSetup"] },
};

const manifest: { exports: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const entryPoints = Object.entries(manifest.exports).filter(([, file]) => file.endsWith(".ts"));

describe("the entry points", () => {
  it("are those whose exports are pinned here", () => {
    expect(entryPoints.map(([subpath]) => subpath).sort()).toEqual(Object.keys(EXPORTS).sort());
  });

  it.each(entryPoints)("%s exports what it promises", async (subpath, file) => {
    const values = Object.keys(await import(join(ROOT, file)));
    expect(values.sort()).toEqual(EXPORTS[subpath]?.values);
    expect(exportedTypes(readFileSync(join(ROOT, file), "utf8"))).toEqual(EXPORTS[subpath]?.types);
  });

  it.each(entryPoints)("%s exports by name only", (_, file) => {
    expect(readFileSync(join(ROOT, file), "utf8")).not.toMatch(/export (\*|default)/);
  });
});

function exportedTypes(source: string): readonly string[] {
  const statements = source.matchAll(/^export (type )?\{([^}]*)\}/gm);
  return Array.from(statements, ([, type, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && (type !== undefined || name.startsWith("type ")))
      .map((name) => name.replace(/^type /, "")),
  )
    .flat()
    .sort();
}
