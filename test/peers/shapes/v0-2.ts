import { any, one, plain, type Shapes } from "./shape.ts";
import { SHAPES_0_3 } from "./v0-3.ts";

/**
 * Every object a server of version 0.2 may answer with: as in 0.3, which came after it. At its address for cards 0.1 has its own as
 * well, and whoever reads one finds the members of both.
 */
export const SHAPES_0_2: Shapes = {
  members: {
    ...SHAPES_0_3.members,
    AgentCard: { ...SHAPES_0_3.members["AgentCard"], authentication: one("Authentication") },
    Authentication: { ...plain("credentials"), ...any("schemes") },
  },
  required: { ...SHAPES_0_3.required, Authentication: ["schemes"] },
};
