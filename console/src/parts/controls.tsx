import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { announce } from "../app/announce.tsx";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** What the button does, if it has no text. */
  readonly label?: string;
  readonly kind?: "plain" | "main" | "danger" | "quiet";
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly submit?: boolean;
  readonly hint?: string;
  readonly onClick?: (event: MouseEvent) => void;
}

/** A button. `hint`: why it cannot be used, or its key. */
export function Button(props: ButtonProps): JSX.Element {
  const { children, icon, label, kind = "plain", pressed, disabled = false, submit = false, hint, onClick } = props;
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button ${kind}${children === undefined ? " square" : ""}`}
      aria-label={label}
      aria-pressed={pressed}
      title={hint ?? label}
      disabled={disabled}
      onClick={onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Copies a text. It says so for two seconds. */
export function CopyButton({
  text,
  children,
}: {
  readonly text: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    announce("Copied");
    setTimeout(() => setDone(false), 2000);
  };
  return (
    <Button
      kind="quiet"
      icon={isDone ? "check" : "copy"}
      {...(children === undefined ? { label: "Copy" } : { children })}
      onClick={() => void copy()}
    />
  );
}

export interface ChoiceProps<T extends string> {
  /** Names the group. */
  readonly label: string;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** A few alternatives side by side; one is chosen. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([each, text]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {text}
        </button>
      ))}
    </div>
  );
}
