import type { ComponentChildren, JSX } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { checkDraft, type Draft, initialDraft } from "./field-value.ts";
import { FieldView } from "./field-view.tsx";
import { fieldOf, type Schema } from "./schema-field.ts";

export interface SchemaFormProps {
  readonly schema: Schema;
  /** The text of the button. */
  readonly action: string;
  /** Beside the button. */
  readonly children?: ComponentChildren;
  readonly onSubmit: (value: unknown) => void;
}

/** A form for a value of a JSON Schema. Problems appear when a field is left, and all of them when the form is sent. */
export function SchemaForm({ schema, action, children, onSubmit }: SchemaFormProps): JSX.Element {
  const field = useMemo(() => fieldOf(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => initialDraft(field));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const checked = checkDraft(field, draft);
  const problems = checked.ok ? new Map<string, string>() : checked.problems;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (checked.ok) {
      onSubmit(checked.value);
      return;
    }
    setLeft(new Set([...left, ...problems.keys()]));
    const [first = ""] = problems.keys();
    form.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(first)}"]`)?.focus();
  };
  return (
    <form ref={form} class="schema-form" noValidate onSubmit={submit}>
      <FieldView
        id={id}
        field={field}
        path=""
        draft={draft}
        problemAt={(path) => (left.has(path) ? problems.get(path) : undefined)}
        onChange={setDraft}
        onLeave={(path) => setLeft(new Set([...left, path]))}
      />
      <p class="actions">
        <Button kind="main" submit>
          {action}
        </Button>
        {children}
      </p>
    </form>
  );
}
