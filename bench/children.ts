import type { ChildProcess } from "node:child_process";

const living = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/** Makes sure that this process ends when the bench ends. */
export function trackChild<Child extends ChildProcess>(child: Child): Child {
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}
