import type { JSX } from "preact";
import type { State } from "../data/operator-types.ts";

/** The words of the states for people. The names of the protocol are in titles. */
export const STATE_WORDS: Readonly<Record<State, string>> = {
  working: "Working",
  submitted: "Submitted",
  "input-required": "Needs input",
  "auth-required": "Needs sign-in",
  completed: "Completed",
  failed: "Failed",
  canceled: "Canceled",
  rejected: "Rejected",
};

/** Each state has a shape of its own, so that colour is never the only sign. */
function Shape({ state }: { readonly state: State }): JSX.Element {
  switch (state) {
    case "working":
      return (
        <>
          <circle class="ring faint" cx="8" cy="8" r="5.75" />
          <path class="ring arc" d="M8 2.25A5.75 5.75 0 0 1 13.75 8" />
          <circle class="solid" cx="8" cy="8" r="2" />
        </>
      );
    case "submitted":
      return <circle class="ring dashed" cx="8" cy="8" r="5.75" />;
    case "input-required":
      return (
        <>
          <path
            class="solid"
            d="M3.500 2h9a1.500 1.500 0 0 1 1.500 1.500v7a1.500 1.500 0 0 1-1.500 1.500H9l-3 2.750V12H3.500A1.500 1.500 0 0 1 2 10.500v-7A1.500 1.500 0 0 1 3.500 2z"
          />
          <path class="sign" d="M6.500 5.500a1.600 1.600 0 1 1 2.300 1.450c-.5.3-.8.55-.8 1.150M8 9.900v.01" />
        </>
      );
    case "auth-required":
      return (
        <>
          <path class="ring" d="M5.250 7V5a2.750 2.750 0 0 1 5.500 0v2" />
          <rect class="solid" x="3.250" y="6.750" width="9.500" height="7.250" rx="1.500" />
          <path class="sign" d="M8 9.500v2" />
        </>
      );
    case "completed":
      return (
        <>
          <circle class="solid" cx="8" cy="8" r="6.500" />
          <path class="sign" d="M5.250 8.250l2 2 3.500-4" />
        </>
      );
    case "failed":
      return (
        <>
          <path class="solid" d="M5.300 1.500h5.400l3.800 3.800v5.400l-3.800 3.800H5.300l-3.800-3.800V5.300z" />
          <path class="sign" d="M6 6l4 4M10 6l-4 4" />
        </>
      );
    case "canceled":
      return <path class="ring" d="M8 2.250a5.750 5.750 0 1 0 0 11.500 5.750 5.750 0 0 0 0-11.500zM4 12l8-8" />;
    default:
      return (
        <>
          <path class="solid" d="M8 1.250 14.750 8 8 14.750 1.250 8z" />
          <path class="sign" d="M5.500 8h5" />
        </>
      );
  }
}

interface StateProps {
  readonly state: State;
  /** Only the shape is drawn; the word is for screen readers. */
  readonly bare?: boolean;
}

/** A state as shape, colour and word. */
export function StateMark({ state, bare = false }: StateProps): JSX.Element {
  return (
    <span class={`state ${state}`} title={state}>
      <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
        <Shape state={state} />
      </svg>
      <span class={bare ? "hidden" : ""}>{STATE_WORDS[state]}</span>
    </span>
  );
}
