import type { JsonValue } from "../protocol/json.ts";
import type { MessageInput } from "./api.ts";

/**
 * Returns a function that makes messages for the skills of an agent, checked by the compiler. `Skills` has the type of the data by skill id:
 * `palaver card types` generates it from the agent's card.
 *
 * ```ts
 * const message = skillMessage<AgentSkills>();
 * await agent.send(message("distance", { x: 3, y: 4 }));
 * ```
 */
export function skillMessage<Skills extends object>(): <Id extends keyof Skills & string>(
  id: Id,
  data: Skills[Id],
) => MessageInput {
  // Safe cast: the data is sent as JSON, and the agent validates it.
  return (id, data) => ({ parts: [{ data: data as JsonValue }], metadata: { skillId: id } });
}
