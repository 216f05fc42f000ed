import type { ComponentChildren, InputHTMLAttributes, JSX } from "preact";
import { Icon } from "../parts/icon.tsx";
import { type Draft, type DraftGroup, typedText } from "./field-value.ts";
import { type Field, type InputType, limitsOf } from "./schema-field.ts";

export interface FieldProps {
  /** Begins the ids of the elements. */
  readonly id: string;
  readonly field: Field;
  readonly path: string;
  readonly draft: Draft;
  /** What is wrong with a field that was left. */
  readonly problemAt: (path: string) => string | undefined;
  readonly onChange: (draft: Draft) => void;
  readonly onLeave: (path: string) => void;
}

/** More options than this are a list to open. */
const FEW = 5;

/** A field with its label, its limits in words and what is wrong with it. */
export function FieldView(props: FieldProps): JSX.Element {
  const { field, path, draft, onChange } = props;
  switch (field.kind) {
    case "group": {
      const group = (typeof draft === "object" && !Array.isArray(draft) ? draft : {}) as DraftGroup;
      const fields = field.fields.map((each) => (
        <FieldView
          {...props}
          key={each.name}
          field={each}
          path={path === "" ? each.name : `${path}.${each.name}`}
          draft={group[each.name]}
          onChange={(next) => onChange({ ...group, [each.name]: next })}
        />
      ));
      return path === "" ? <div class="fields">{fields}</div> : <Group {...props}>{fields}</Group>;
    }
    case "boolean":
      return (
        <Group {...props}>
          {[true, false].map((value) => (
            <Option
              key={String(value)}
              {...props}
              type="radio"
              label={value ? "Yes" : "No"}
              isChosen={draft === value}
              onChoose={() => onChange(value)}
            />
          ))}
        </Group>
      );
    case "several":
      return (
        <Group {...props}>
          {field.options.map(({ value, label }) => {
            const chosen = Array.isArray(draft) ? (draft as readonly unknown[]) : [];
            const isChosen = chosen.includes(value);
            const next = isChosen ? chosen.filter((each) => each !== value) : [...chosen, value];
            return (
              <Option
                key={label}
                {...props}
                type="checkbox"
                label={label}
                isChosen={isChosen}
                onChoose={() => onChange(next)}
              />
            );
          })}
        </Group>
      );
    case "choice":
      return field.options.length <= FEW ? <Radios {...props} /> : <Labelled {...props}>{selectOf(props)}</Labelled>;
    default:
      return <Labelled {...props}>{inputOf(props)}</Labelled>;
  }
}

function Radios(props: FieldProps): JSX.Element {
  const { field, draft, onChange } = props;
  return (
    <Group {...props}>
      {field.options.map(({ value, label }) => {
        const text = JSON.stringify(value);
        return (
          <Option
            key={label}
            {...props}
            type="radio"
            label={label}
            isChosen={draft === text}
            onChoose={() => onChange(text)}
          />
        );
      })}
    </Group>
  );
}

interface OptionProps extends FieldProps {
  readonly type: "radio" | "checkbox";
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Option({ id, path, type, label, isChosen, onChoose, onLeave }: OptionProps): JSX.Element {
  return (
    <label class="option">
      <input
        type={type}
        name={`${id} ${path}`}
        data-path={path}
        checked={isChosen}
        onChange={onChoose}
        onBlur={() => onLeave(path)}
      />
      {label}
    </label>
  );
}

function Group({
  id,
  field,
  path,
  problemAt,
  children,
}: FieldProps & { readonly children: ComponentChildren }): JSX.Element {
  const hint = `${id}-${path}-hint`;
  return (
    <fieldset class={field.kind === "group" ? "group" : "options"} aria-describedby={hint}>
      <legend>
        {field.label} {!field.required && <small>optional</small>}
      </legend>
      <div class={field.kind === "group" ? "fields" : "choices"}>{children}</div>
      <Hint id={hint} field={field} problem={problemAt(path)} />
    </fieldset>
  );
}

function Labelled({
  id,
  field,
  path,
  problemAt,
  children,
}: FieldProps & { readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class={field.kind === "area" || field.kind === "json" ? "field wide" : "field"}>
      <label for={`${id}-${path}`}>
        {field.label} {!field.required && <small>optional</small>}
      </label>
      {children}
      <Hint id={`${id}-${path}-hint`} field={field} problem={problemAt(path)} />
    </div>
  );
}

function Hint({
  id,
  field,
  problem,
}: {
  readonly id: string;
  readonly field: Field;
  readonly problem: string | undefined;
}): JSX.Element {
  const words = [field.description, limitsOf(field)].filter(Boolean).join(". ");
  return (
    <small id={id} class={problem === undefined ? "hint" : "hint problem"}>
      {problem === undefined ? (
        words
      ) : (
        <>
          <Icon name="warning" />
          {problem}
        </>
      )}
    </small>
  );
}

/** The attributes that every element of a field has. */
function common({ id, path, problemAt, onLeave }: FieldProps): {
  readonly id: string;
  readonly "data-path": string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
  readonly onBlur: () => void;
} {
  return {
    id: `${id}-${path}`,
    "data-path": path,
    "aria-describedby": `${id}-${path}-hint`,
    "aria-invalid": problemAt(path) !== undefined,
    onBlur: () => onLeave(path),
  };
}

function selectOf(props: FieldProps): JSX.Element {
  const { field, draft, onChange } = props;
  return (
    <select {...common(props)} value={typedText(draft)} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">Choose</option>
      {field.options.map(({ value, label }) => (
        <option key={label} value={JSON.stringify(value)}>
          {label}
        </option>
      ))}
    </select>
  );
}

function inputOf(props: FieldProps): JSX.Element {
  const { field, draft, onChange } = props;
  const value = typedText(draft);
  if (field.kind === "area" || field.kind === "json")
    return (
      <textarea {...common(props)} rows={3} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
    );
  const attributes = {
    ...common(props),
    autocomplete: "off",
    value,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value),
  };
  if (field.kind === "password") return <input type="password" {...attributes} />;
  if (field.kind === "number") return <input type="text" inputMode="decimal" {...attributes} />;
  return inputByFormat(field.input, attributes);
}

/** Each kind of input element has its own type of attributes. */
function inputByFormat(input: InputType, attributes: InputHTMLAttributes<HTMLInputElement>): JSX.Element {
  // Safe cast: none of the attributes depends on the type.
  return <input {...({ ...attributes, type: input } as InputHTMLAttributes<HTMLInputElement>)} />;
}
