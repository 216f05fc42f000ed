import { any, one, plain, type Shapes } from "./shape.ts";
import { SHAPES_0_3 } from "./v0-3.ts";

/**
 * Every object that a server of 0.2 may send: as in 0.3. The card at the older address has the members of 0.1 as well.
 */
export const SHAPES_0_2: Shapes = {
  members: {
    ...SHAPES_0_3.members,
    AgentCard: { ...SHAPES_0_3.members["AgentCard"], authentication: one("Authentication") },
    Authentication: { ...plain("credentials"), ...any("schemes") },
  },
  required: { ...SHAPES_0_3.required, Authentication: ["schemes"] },
};
