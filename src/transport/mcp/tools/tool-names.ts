import { createHash } from "node:crypto";

/** Many clients accept no longer names, and no other characters than letters, digits, underscores and dashes. */
const MAX_NAME = 64;
const HASH = 8;

/** The agent, or one of its skills, that a tool calls. */
export interface ToolTarget {
  readonly agent: string;
  /** Absent: the whole agent. */
  readonly skill?: string | undefined;
}

/**
 * A name for each target, in the same order: the id of the agent, with the id of the skill after an underscore. Depends only on the targets, not on their order.
 * Targets whose names would be equal, and names that must be shortened, end with a hash of the target.
 */
export function toolNames(targets: readonly ToolTarget[], taken: readonly string[] = []): readonly string[] {
  const plain = targets.map(plainName);
  const counts = new Map<string, number>(taken.map((name) => [name, 1]));
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return targets.map((target, index) => {
    const name = plain[index] ?? "";
    return counts.get(name) === 1 && name.length <= MAX_NAME ? name : hashedName(name, target);
  });
}

function plainName({ agent, skill }: ToolTarget): string {
  return (skill === undefined ? agent : `${agent}_${skill}`).replace(/[^A-Za-z0-9_-]/g, "_");
}

function hashedName(name: string, { agent, skill }: ToolTarget): string {
  const identity = JSON.stringify([agent, skill ?? null]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, HASH);
  return `${name.slice(0, MAX_NAME - HASH - 1)}_${hash}`;
}
