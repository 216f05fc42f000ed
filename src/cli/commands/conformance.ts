import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { type CheckResult, runChecks } from "../session/conformance-checks.ts";
import { runTck } from "../session/run-tck.ts";
import { runSession } from "../session/session.ts";
import { agentCommand } from "./agent.ts";

/** `palaver conformance`: the checks of `session/conformance-checks.ts`, and on request the A2A project's kit. */
export function conformanceCommand(context: CliContext): Command {
  const command = agentCommand("conformance", {
    description: "Check whether a running agent and its card follow the protocol.",
    options: ["poll-interval"],
    own: [
      { flags: "--message <text>", description: "message to send; the agent will act on it (default: Hello)" },
      { flags: "--tck <folder>", description: "also run the A2A project's test kit (TCK) from this folder" },
    ],
    examples: [
      ["palaver conformance -a http://127.0.0.1:3000", "exit code 1 if a check fails"],
      ["palaver conformance -a URL -o json", "as JSON"],
      ["palaver conformance -a URL --tck ../a2a-tck", "also run the test kit, which needs Python"],
    ],
  });
  return command.action(() =>
    runSession(context, command.opts(), async (session) => {
      const { message, tck }: { message?: string; tck?: string } = command.opts();
      const results = [...(await runChecks(session, message ?? "Hello"))];
      if (tck !== undefined) results.push(await runTck(session, tck));
      const count = (outcome: CheckResult["outcome"]): number =>
        results.filter((one) => one.outcome === outcome).length;
      await session.output.own({
        json: { passed: count("pass"), failed: count("fail"), skipped: count("skip"), checks: results },
        fields: [
          ...results.map(
            ({ id, outcome, title, detail }) =>
              [
                outcome === "pass" ? "Pass" : outcome === "fail" ? "Fail" : "Skip",
                `${id}: ${title}${detail === undefined ? "" : ` (${detail})`}`,
              ] as const,
          ),
          ["Passed", String(count("pass"))],
          ["Failed", String(count("fail"))],
          ["Skipped", String(count("skip"))],
        ],
      });
      if (count("fail") > 0) session.exitWith(1);
    }),
  );
}
