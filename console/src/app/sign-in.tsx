import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { keepSession } from "./session.ts";

/** Shown without a valid session: says where the start-up URL is, and takes a token of the operator. */
export function SignIn(): JSX.Element {
  const [token, setToken] = useState("");
  return (
    <main id="main" class="sign-in">
      <Icon name="keys" />
      <h1>Open the console with its start-up URL</h1>
      <p>
        The server prints a URL when it starts, on the line <code>Console</code>. It ends with a code that lets this
        page read the tasks of all callers. Copy the whole URL into the address bar.
      </p>
      <p>A page stays signed in for 24 hours, also if the server restarts, and only in its own tab.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") keepSession({ token: token.trim() });
        }}
      >
        <label for="token">Or paste a token of the operator</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          aria-describedby="token-hint"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <small id="token-hint">
          On this machine: the <code>token</code> in the file <code>….operator.json</code> beside the store. Elsewhere:
          a token that the policy of the operator API allows.
        </small>
        <Button kind="main" submit>
          Open the console
        </Button>
      </form>
    </main>
  );
}
