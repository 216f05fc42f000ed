import type { JSX } from "preact";
import type { TaskRow } from "../data/operator-types.ts";
import { plural } from "../text/format.ts";

/** Bars of the newest tasks: the longer a task took, the higher. Failed tasks have another colour. */
export function RecentTasks({ tasks }: { readonly tasks: readonly TaskRow[] }): JSX.Element | null {
  if (tasks.length === 0) return null;
  const lengths = tasks.map(({ createdAt, statusAt }) => Math.max(1, Date.parse(statusAt) - Date.parse(createdAt)));
  const most = Math.log10(Math.max(...lengths) + 1);
  const failed = tasks.filter(({ state }) => state === "failed").length;
  const words = `The last ${plural(tasks.length, "task")}, ${failed === 0 ? "none" : failed} failed. Higher bars took longer.`;
  return (
    <svg class="recent" role="img" aria-label={words} viewBox="0 0 96 24" preserveAspectRatio="xMaxYMax meet">
      <title>{words}</title>
      {tasks.map((task, index) => {
        const height = 3 + 21 * (Math.log10((lengths[index] ?? 1) + 1) / Math.max(most, 1));
        const x = 96 - (tasks.length - index) * 4;
        return <rect key={task.key} class={task.state} x={x} y={24 - height} width="3" height={height} rx="1" />;
      })}
    </svg>
  );
}
