const NO_PROMPTS = "Agents have no prompts.";
const NO_RESOURCES = "Agents have no resources.";
const NO_COMPLETION = "Agents complete no arguments.";
const NO_SAMPLING = "Agents do not use the client's model.";
const NO_ROOTS = "Agents do not read the client's files.";
const NO_LOGGING = "The log of a task is for operators.";
const NO_RESUMPTION = "Streams of the revisions of 2025 cannot be resumed; the check is a warning.";

/** Checks of the conformance kit that are expected to fail, with the reason, by revision. An entry whose check passes is an error. */
export const BASELINE: Readonly<Record<"2026-07-28" | "2025-11-25", Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    "caching:sep-2549-prompts-list-caching-hints": NO_PROMPTS,
    "caching:sep-2549-resources-list-caching-hints": NO_RESOURCES,
    "caching:sep-2549-resources-templates-list-caching-hints": NO_RESOURCES,
    "completion-complete:completion-complete": NO_COMPLETION,
    "input-required-result-basic-list-roots:sep-2322-list-roots-incomplete": NO_ROOTS,
    "input-required-result-basic-sampling:sep-2322-sampling-incomplete": NO_SAMPLING,
    "input-required-result-capability-check:sep-2322-respect-client-capabilities": NO_SAMPLING,
    "input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete": NO_SAMPLING,
    "input-required-result-non-tool-request:sep-2322-non-tool-incomplete": NO_PROMPTS,
    "prompts-get-embedded-resource:prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-simple:prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args:prompts-get-with-args": NO_PROMPTS,
    "prompts-get-with-image:prompts-get-with-image": NO_PROMPTS,
    "prompts-list:prompts-list": NO_PROMPTS,
    "resources-list:resources-list": NO_RESOURCES,
    "resources-read-binary:resources-read-binary": NO_RESOURCES,
    "resources-read-text:resources-read-text": NO_RESOURCES,
    "resources-templates-read:resources-templates-read": NO_RESOURCES,
    "sep-2164-resource-not-found:sep-2164-error-code": NO_RESOURCES,
    "sep-2164-resource-not-found:sep-2164-data-uri": NO_RESOURCES,
    "server-stateless:sep-2575-server-rejects-undeclared-capability": NO_SAMPLING,
  },
  "2025-11-25": {
    "completion-complete:completion-complete": NO_COMPLETION,
    "logging-set-level:logging-set-level": NO_LOGGING,
    "prompts-get-embedded-resource:prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-simple:prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args:prompts-get-with-args": NO_PROMPTS,
    "prompts-get-with-image:prompts-get-with-image": NO_PROMPTS,
    "prompts-list:prompts-list": NO_PROMPTS,
    "resources-list:resources-list": NO_RESOURCES,
    "resources-read-binary:resources-read-binary": NO_RESOURCES,
    "resources-read-text:resources-read-text": NO_RESOURCES,
    "resources-subscribe:resources-subscribe": NO_RESOURCES,
    "resources-templates-read:resources-templates-read": NO_RESOURCES,
    "resources-unsubscribe:resources-unsubscribe": NO_RESOURCES,
    "server-sse-polling:server-sse-priming-event": NO_RESUMPTION,
    "server-sse-polling:server-sse-retry-field": NO_RESUMPTION,
    "tools-call-sampling:tools-call-sampling": NO_SAMPLING,
    "tools-call-with-logging:tools-call-with-logging": NO_LOGGING,
  },
};
