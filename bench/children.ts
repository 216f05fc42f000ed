import type { ChildProcess } from "node:child_process";

const living = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/** Makes sure that this process ends no later than the bench. */
export function trackChild<Child extends ChildProcess>(child: Child): Child {
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}
