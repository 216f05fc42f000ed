import type { JSX } from "preact";

/** Members of one object or list that are shown at first. */
const SHOWN = 100;
/** Levels that are open at first. */
const OPEN = 3;

/** A JSON value as a tree that can be folded. */
export function JsonView({ value }: { readonly value: unknown }): JSX.Element {
  return (
    <div class="json" tabIndex={0}>
      <Value value={value} depth={0} />
    </div>
  );
}

interface ValueProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function Value({ name, value, depth }: ValueProps): JSX.Element {
  const label = name === undefined ? null : <span class="name">{name}: </span>;
  if (typeof value !== "object" || value === null) {
    const kind = value === null ? "null" : typeof value;
    return (
      <div class="value">
        {label}
        <span class={kind}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return (
      <div class="value">
        {label}
        {isList ? "[]" : "{}"}
      </div>
    );
  return (
    <details open={depth < OPEN}>
      <summary>
        {label}
        <span class="size">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      {entries.slice(0, SHOWN).map(([key, member]) => (
        <Value key={key} name={key} value={member} depth={depth + 1} />
      ))}
      {entries.length > SHOWN && <div class="value size">{entries.length - SHOWN} more</div>}
    </details>
  );
}
