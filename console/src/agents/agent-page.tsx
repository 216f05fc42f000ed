import type { JSX } from "preact";
import { Page } from "../app/frame.tsx";
import { agentUrl, href, INSPECTED } from "../app/place.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { CopyButton } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Failure, Loading, Notice } from "../parts/notice.tsx";
import { TaskRows } from "../tasks/task-rows.tsx";
import { duration } from "../text/format.ts";
import { safeUrl } from "../text/markdown.ts";
import { type CardView, cardProblems, discoverCard, type SkillView } from "./agent-card.ts";
import { callsOf } from "./agent-figures.ts";

/** One agent: its card as people read it, what is wrong with it, its skills and its last tasks. */
export function AgentPage({ id }: { readonly id: string }): JSX.Element {
  const {
    value: card,
    error,
    reload,
  } = usePolled({
    key: `card ${id}`,
    load: (signal) =>
      discoverCard(id, signal).catch((failure: unknown) => {
        throw new ApiError(failure instanceof Error ? failure.message : String(failure), 1, `GET ${agentUrl(id)}`);
      }),
  });
  const name = card?.name ?? id;
  return (
    <Page
      title={name}
      heading={
        <>
          <a href={href("")}>{INSPECTED === undefined ? "Agents" : "Card"}</a>
          <span class="slash">/</span>
          <AgentFlag id={id} />
          {name}
        </>
      }
      actions={
        <a class="button" href={href(`agents/${encodeURIComponent(id)}/chat`)}>
          <Icon name="chat" />
          Chat
        </a>
      }
    >
      <div class="content">
        {error !== undefined && <Failure what="The card" error={error} retry={reload} />}
        {card === undefined ? error === undefined && <Loading rows={6} /> : <Card id={id} card={card} />}
      </div>
    </Page>
  );
}

function Card({ id, card }: { readonly id: string; readonly card: CardView }): JSX.Element {
  const problems = cardProblems(card);
  return (
    <>
      <p class="sentence">{card.description}</p>
      {problems.length === 0 ? (
        <p class="finding">
          <Icon name="check" /> Nothing is wrong with the card.
        </p>
      ) : (
        problems.map((problem) => (
          <Notice key={problem} kind="warn">
            {problem}
          </Notice>
        ))
      )}
      <Facts id={id} card={card} />
      {card.skills.length > 0 && <h2 class="section">Skills</h2>}
      <ul class="cards">
        {card.skills.map((skill) => (
          <Skill key={skill.id} agent={id} skill={skill} />
        ))}
      </ul>
      <h2 class="section">Interfaces</h2>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Binding</th>
            <th scope="col">Version</th>
            <th scope="col">Address</th>
          </tr>
        </thead>
        <tbody>
          {card.interfaces.map(({ url, binding, version }) => (
            <tr key={`${binding} ${version}`}>
              <td>{binding}</td>
              <td>{version}</td>
              <td class="mono">{url}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {INSPECTED === undefined && (
        <>
          <AgentHealth id={id} />
          <LastTasks id={id} />
        </>
      )}
      <details class="fold">
        <summary>The card as JSON</summary>
        <CopyButton text={JSON.stringify(card.json, undefined, 2)}>Copy</CopyButton>
        <JsonView value={card.json} />
      </details>
    </>
  );
}

function Facts({ id, card }: { readonly id: string; readonly card: CardView }): JSX.Element {
  const documentation = card.documentationUrl === undefined ? undefined : safeUrl(card.documentationUrl);
  const facts: readonly (readonly [string, string])[] = [
    ["Version", card.version],
    ["Streams", card.streaming ? "yes" : "no"],
    ["Webhooks", card.push ? "yes" : "no"],
    ["Accepts", card.inputModes.join(", ")],
    ["Returns", card.outputModes.join(", ")],
    ["Callers", card.schemes.length === 0 ? "anyone" : card.schemes.join(", ")],
    ...(card.provider === undefined ? [] : ([["Provider", card.provider]] as const)),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div>
        <dt>Address</dt>
        <dd class="mono">
          {agentUrl(id)}
          <CopyButton text={agentUrl(id)} />
        </dd>
      </div>
      {documentation !== undefined && (
        <div>
          <dt>Documentation</dt>
          <dd>
            <a class="link" href={documentation} target="_blank" rel="noopener noreferrer">
              {documentation}
            </a>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Skill({ agent, skill }: { readonly agent: string; readonly skill: SkillView }): JSX.Element {
  const chat = href(`agents/${encodeURIComponent(agent)}/chat`);
  return (
    <li class="tile skill">
      <h3>{skill.name}</h3>
      <p class="about">{skill.description}</p>
      <p class="examples">
        {skill.examples.map((example) => (
          <a key={example} class="example" href={`${chat}?say=${encodeURIComponent(example)}`}>
            {example}
          </a>
        ))}
        {skill.schema !== undefined && (
          <a class="example" href={`${chat}?skill=${encodeURIComponent(skill.id)}`}>
            <Icon name="card" />
            Fill in its form
          </a>
        )}
      </p>
      {skill.tags.length > 0 && <small>{skill.tags.join(", ")}</small>}
    </li>
  );
}

/** What the agent does now, and how its calls went since the server started. */
function AgentHealth({ id }: { readonly id: string }): JSX.Element | null {
  const { value } = usePolled({
    key: `health of ${id}`,
    every: 4000,
    load: async (signal) => {
      const states = ["working", "input-required", "auth-required", "failed"] as const;
      const counts = await Promise.all(
        states.map((state) => operatorApi.tasks({ agent: id, state, limit: 100 }, signal)),
      );
      // 503: metrics are turned off.
      const { metrics } = await operatorApi.metrics(signal).catch(() => ({ metrics: [] }));
      return { counts: counts.map(({ tasks, next }) => `${tasks.length}${next === undefined ? "" : "+"}`), metrics };
    },
  });
  if (value === undefined) return null;
  const { calls, refused, milliseconds } = callsOf(value.metrics, id);
  const [working, asking, signing, failed] = value.counts;
  const facts: readonly (readonly [string, string, string])[] = [
    ["At work", working ?? "0", ""],
    ["Need input", asking ?? "0", asking === "0" ? "" : "warn"],
    ["Need sign-in", signing ?? "0", signing === "0" ? "" : "warn"],
    ["Failed tasks kept", failed ?? "0", failed === "0" ? "" : "bad"],
    ["Calls since the start", String(calls), ""],
    ["Refused or failed calls", String(refused), refused === 0 ? "" : "bad"],
    ["Answered within", calls === 0 ? "–" : `${duration(milliseconds)} on average`, ""],
  ];
  return (
    <>
      <h2 class="section">Health</h2>
      <dl class="facts">
        {facts.map(([name, text, kind]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={kind}>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function LastTasks({ id }: { readonly id: string }): JSX.Element {
  const { value } = usePolled({
    key: `tasks of ${id}`,
    every: 4000,
    load: (signal) => operatorApi.tasks({ agent: id, limit: 10, text: "true" }, signal),
  });
  return (
    <>
      <h2 class="section">
        Last tasks{" "}
        <a class="link" href={href(`tasks?agent=${encodeURIComponent(id)}`)}>
          All
        </a>
      </h2>
      {value?.tasks.length === 0 ? (
        <p class="soft">None yet.</p>
      ) : (
        <TaskRows tasks={value?.tasks ?? []} agents={false} />
      )}
    </>
  );
}
