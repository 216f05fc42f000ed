import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_ERRORS } from "../../../src/cli/cli-error.ts";
import { packageVersion } from "../../../src/platform/version.ts";
import { ROOT } from "../../architecture/imports.ts";
import { REQUIREMENTS, type Requirement, SPECIFICATION } from "./requirements.ts";

/** Path of the report, relative to the root of the repository. */
export const PAGE = "docs/reference/cli-compliance.yaml";

const FOLDER = "test/cli/compliance";

/** The name and file of a test that checks a requirement. */
export interface Evidence {
  readonly id: string;
  readonly name: string;
  readonly file: string;
}

/** The tests found in the test files. */
export function declaredEvidence(): readonly Evidence[] {
  return readdirSync(join(ROOT, FOLDER))
    .filter((name) => name.endsWith(".test.ts") && name !== "page.test.ts")
    .sort()
    .flatMap((name) => {
      const file = `${FOLDER}/${name}`;
      const source = readFileSync(join(ROOT, file), "utf8");
      return Array.from(source.matchAll(/\bit\(\s*"(A2ACLI_\w+) ([^"]+)"/g), ([, id = "", test = ""]) => ({
        id,
        name: test,
        file,
      }));
    });
}

type Status = "pass" | "partial" | "fail" | "na" | "not_measured";

/** The report in the format of the specification. `failed` are the tests that did not pass. */
export function compliancePage(evidence: readonly Evidence[], failed: ReadonlySet<string>, date: string): string {
  const rows = REQUIREMENTS.map((requirement) => {
    const tests = evidence.filter(({ id }) => id === requirement.id);
    return { requirement, tests, status: statusOf(requirement, tests, failed) };
  });
  const isMet = (tier: 1 | 2): boolean =>
    rows.every(({ requirement, status }) => requirement.tier !== tier || status === "pass" || status === "na");
  const claimed = isMet(1) ? (isMet(2) ? 2 : 1) : "none";
  const yes = (...ids: readonly string[]): string =>
    rows.every(({ requirement, status }) => !ids.includes(requirement.id) || status === "pass") ? "yes" : "no";
  const tally = (tier: 1 | 2): string => {
    const own = rows.filter(({ requirement }) => requirement.tier === tier).map(({ status }) => status);
    const count = (status: Status): number => own.filter((other) => other === status).length;
    const counts = [
      `total: ${own.length}`,
      `pass: ${count("pass")}`,
      `partial: ${count("partial")}`,
      `fail: ${count("fail")}`,
    ];
    counts.push(`not_measured: ${count("not_measured")}`, `na: ${count("na")}`);
    return `  tier_${tier}: {${counts.join(", ")}, satisfied: ${isMet(tier)}}`;
  };
  return `${[
    "# What the command line does of the a2a-cli specification. Written by the tests that each requirement names:",
    "# node scripts/cli-compliance.ts --write",
    "",
    "report:",
    "  tool: palaver",
    `  tool_version: ${text(packageVersion())}`,
    "  language: TypeScript",
    `  report_date: ${date}`,
    `  spec_version: ${text(SPECIFICATION.version)}`,
    `  spec_revision: ${SPECIFICATION.revision}`,
    '  a2a_versions: ["1.0", "0.3", "0.2", "0.1"]',
    `  agent_tested: ${text("Agents of the demonstration and of the tests, served by this package; scripted ones for what those never do")}`,
    "  agent_tck_conformant: unknown",
    "  transports_covered: [JSON-RPC, HTTP+JSON]",
    `  tier_claimed: ${claimed}`,
    "",
    "summary:",
    tally(1),
    tally(2),
    "",
    "requirements:",
    ...rows.flatMap(({ requirement, tests, status }) => requirementLines(requirement, tests, status)),
    "",
    "default_001_breakdown:",
    ...DEFAULTS.map(
      (name) =>
        `  ${name}: {shipped: ${yes("A2ACLI_DEFAULT_001")}, overridable: ${yes("A2ACLI_DEFAULT_001")}, note: null}`,
    ),
    "",
    "error_codes:",
    ...Object.keys(CLI_ERRORS).map(
      (code) => `  ${code}: {emitted: ${yes("A2ACLI_OUT_004", "A2ACLI_EXIT_001", "A2ACLI_TASK_POLL_002")}, note: null}`,
    ),
    "",
    "attestation:",
    "  reported_by: the project's own tests",
    `  date: ${date}`,
    `  statement: ${text("Each status is what came of the tests named as evidence; what they do not show is in the notes.")}`,
  ].join("\n")}\n`;
}

const DEFAULTS = [
  "transport_server_preference_order",
  "task_completion_wait_by_default",
  "output_human_readable_text",
  "detail_level_concise",
  "protocol_version_highest_mutual",
  "transport_security_tls_on",
];

function statusOf(requirement: Requirement, tests: readonly Evidence[], failed: ReadonlySet<string>): Status {
  if (requirement.notApplicable !== undefined) return "na";
  if (tests.length === 0) return "not_measured";
  if (tests.some(({ id, name }) => failed.has(`${id} ${name}`))) return "fail";
  return requirement.shortfall === undefined ? "pass" : "partial";
}

function requirementLines(
  { id, tier, spec, text: about, notApplicable, shortfall }: Requirement,
  tests: readonly Evidence[],
  status: Status,
): readonly string[] {
  const note = notApplicable ?? noteOn(status) ?? shortfall;
  return [
    `  ${id}:`,
    `    tier: ${tier}`,
    `    area: ${id.replace(/^A2ACLI_/, "").replace(/_\d+$/, "")}`,
    `    spec: ${text(spec)}`,
    `    requirement: ${text(about)}`,
    `    status: ${status}`,
    `    note: ${note === undefined ? "null" : text(note)}`,
    ...(tests.length === 0
      ? ["    evidence: null"]
      : ["    evidence:", ...tests.map(({ file, name }) => `      - ${text(`${file}: ${name}`)}`)]),
  ];
}

function noteOn(status: Status): string | undefined {
  if (status === "fail") return "A test fails.";
  return status === "not_measured" ? "No test yet." : undefined;
}

/** A JSON string is a valid YAML string. */
function text(value: string): string {
  return JSON.stringify(value);
}
