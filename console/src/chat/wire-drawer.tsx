import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button, Choice, CopyButton } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { bytes, duration, plural } from "../text/format.ts";
import { COPY_KINDS, type CopyKind, copyOf } from "./copy-call.ts";
import type { WireCall, WireFrame, WireLog } from "./wire-log.ts";

export interface WireDrawerProps {
  readonly log: WireLog;
  /** The URL of the agent. */
  readonly agent: string;
  readonly onClose: () => void;
}

/** Every request of the chat, as it was sent and answered. */
export function WireDrawer({ log, agent, onClose }: WireDrawerProps): JSX.Element {
  const calls = log.calls.value;
  const [chosen, setChosen] = useState<number>();
  const open = calls.find(({ number }) => number === chosen) ?? calls.at(-1);
  return (
    <aside class="wire" aria-label="Wire">
      <header>
        <h2>Wire</h2>
        <span class="soft">what was sent and received</span>
        <Button kind="quiet" icon="close" label="Close the wire" onClick={onClose} />
      </header>
      <ol class="calls" tabIndex={0}>
        {calls.map((call) => (
          <Call key={call.number} call={call} isOpen={call === open} onOpen={() => setChosen(call.number)} />
        ))}
      </ol>
      {open !== undefined && <CopyCall call={open} agent={agent} />}
    </aside>
  );
}

/** The method of JSON-RPC, else the path. */
function nameOf({ method, url, body }: WireCall): string {
  const path = URL.parse(url)?.pathname ?? url;
  if (path.includes("/.well-known/")) return "Agent card";
  return /"method":"([\w/]+)"/.exec(body)?.[1] ?? `${method} ${path.split("/").at(-1) ?? ""}`;
}

function resultOf({ status, ms, frames, failure }: WireCall): string {
  if (failure !== undefined) return "failed";
  if (status === undefined) return "sent";
  if (frames.length > 0) return `${ms === undefined ? "open, " : ""}${plural(frames.length, "event")}`;
  return `${status}${ms === undefined ? "" : `, ${duration(ms)}`}`;
}

function Call({
  call,
  isOpen,
  onOpen,
}: {
  readonly call: WireCall;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}): JSX.Element {
  return (
    <li class="call">
      <button type="button" aria-expanded={isOpen} onClick={onOpen}>
        <Icon name={isOpen ? "down" : "right"} />
        <strong>{nameOf(call)}</strong>
        <span class="soft">{resultOf(call)}</span>
        <code class="cut">
          {call.method} {URL.parse(call.url)?.pathname ?? call.url}
        </code>
      </button>
      {isOpen && <CallDetails call={call} />}
    </li>
  );
}

function CallDetails({ call }: { readonly call: WireCall }): JSX.Element {
  const { body, text, frames, failure } = call;
  return (
    <dl class="frames">
      {body !== "" && (
        <>
          <dt>sent</dt>
          <dd>
            <Json text={body} />
          </dd>
        </>
      )}
      {merged(frames).map((run) => (
        <Frames key={run[0]?.id ?? ""} run={run} />
      ))}
      {text !== undefined && text !== "" && (
        <>
          <dt>{call.status}</dt>
          <dd>
            <Json text={text} />
          </dd>
        </>
      )}
      {failure !== undefined && (
        <>
          <dt>failed</dt>
          <dd>{failure}</dd>
        </>
      )}
    </dl>
  );
}

/** Frames of the same kind in a row are one entry. */
function merged(frames: readonly WireFrame[]): readonly (readonly WireFrame[])[] {
  const runs: WireFrame[][] = [];
  for (const frame of frames) {
    const last = runs.at(-1);
    if (last !== undefined && kindOf(last[0]) === kindOf(frame)) last.push(frame);
    else runs.push([frame]);
  }
  return runs;
}

/** The member that says what a frame is, in the JSON of every version. */
function kindOf(frame: WireFrame | undefined): string {
  const data = frame?.data ?? "";
  return (
    /"(task|message|msg|statusUpdate|artifactUpdate)":\{/.exec(data)?.[1] ??
    /"kind":"([\w-]+)"/.exec(data)?.[1] ??
    "event"
  );
}

function Frames({ run }: { readonly run: readonly WireFrame[] }): JSX.Element {
  const [first, last] = [run[0], run.at(-1)];
  const size = run.reduce((sum, { data }) => sum + data.length, 0);
  return (
    <>
      <dt>{first?.id === last?.id ? first?.id : `${first?.id}–${last?.id}`}</dt>
      <dd>
        <details>
          <summary>
            {kindOf(first)}
            {run.length > 1 && ` × ${run.length}`} <small>{bytes(size)}</small>
          </summary>
          {run.slice(-20).map((frame) => (
            <Json key={frame.id} text={frame.data} />
          ))}
        </details>
      </dd>
    </>
  );
}

function Json({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre class="code" tabIndex={0}>
      {pretty(text).slice(0, 20_000)}
    </pre>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function CopyCall({ call, agent }: { readonly call: WireCall; readonly agent: string }): JSX.Element {
  const [kind, setKind] = useState<CopyKind>("curl");
  const text = copyOf(call, kind, agent);
  return (
    <footer>
      <div class="copy-head">
        <h3>Copy this call</h3>
        <Choice label="Copy as" options={COPY_KINDS} value={kind} onChange={setKind} />
        <CopyButton text={text} />
      </div>
      <pre class="code" tabIndex={0}>
        {text}
      </pre>
    </footer>
  );
}
