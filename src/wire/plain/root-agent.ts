import type { RootAgent } from "../codec.ts";
import type { DialectSettings } from "../options.ts";

/**
 * A request header. A request with it that names no agent is refused with 404 unless an agent declares a `defaultProjectId`, as if the
 * server's option `requireDefaultProject` were set. Its value is ignored.
 */
export const REQUIRE_DEFAULT_PROJECT = "palaver-require-default-project";

/** The first agent with a default project; if there is none, the first agent, unless a default project is required. */
export function createRootAgent({ requireDefaultProject }: DialectSettings): RootAgent {
  return {
    missing: "Agent with default project",
    choose: (agents, header) => {
      const withProject = agents.find(({ defaultProjectId }) => defaultProjectId !== undefined);
      const isRequired = requireDefaultProject || header(REQUIRE_DEFAULT_PROJECT) !== undefined;
      return withProject ?? (isRequired ? undefined : agents[0]);
    },
  };
}
