import type { ComponentChildren, JSX } from "preact";
import type { ApiError } from "../data/operator-api.ts";
import { Button, CopyButton } from "./controls.tsx";
import { Icon, type IconName } from "./icon.tsx";

/** A line that says that something is wrong (`bad`), or needs a person (`warn`). */
export function Notice({
  kind,
  children,
}: {
  readonly kind: "bad" | "warn";
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <p class={`notice ${kind}`}>
      <Icon name="warning" />
      <span>{children}</span>
    </p>
  );
}

export interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Says that there is nothing to show, and what to do. Never shown for a failure. */
export function Empty({ icon, title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Says what could not be read, with the request for a report. */
export function Failure({
  what,
  error,
  retry,
}: {
  readonly what: string;
  readonly error: ApiError;
  readonly retry: () => void;
}): JSX.Element {
  return (
    <div class="empty failure" role="alert">
      <Icon name="warning" />
      <h2>{what} could not be read.</h2>
      <p>{error.message} Running tasks are not affected.</p>
      <p class="actions">
        <Button icon="again" onClick={retry}>
          Try again
        </Button>
        <CopyButton text={`${error.request}\n${error.status} ${error.message}`}>Copy details</CopyButton>
      </p>
    </div>
  );
}

/** Grey bars, shown until the rows are loaded. */
export function Loading({ rows }: { readonly rows: number }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}
