import type { JSX } from "preact";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { ServedAgent } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Icon } from "../parts/icon.tsx";
import { Failure, Loading, Notice } from "../parts/notice.tsx";
import { count, plural } from "../text/format.ts";
import { cardProblems, fetchCard } from "./agent-card.ts";
import { type AgentFigures, figuresOf } from "./agent-figures.ts";
import { RecentTasks } from "./recent-tasks.tsx";

/** All agents of the server: what they do, examples to click, and what is wrong. */
export function AgentsPage(): JSX.Element {
  const activity = usePolled({
    key: "activity",
    every: 4000,
    load: async (signal) => {
      const [{ tasks }, { metrics }] = await Promise.all([
        operatorApi.tasks({ limit: 200 }, signal),
        // 503: metrics are turned off.
        operatorApi.metrics(signal).catch((error: unknown) => {
          if (error instanceof ApiError && error.status === 503) return { metrics: [] };
          throw error;
        }),
      ]);
      return figuresOf(tasks, metrics);
    },
  });
  const known = overview.value;
  return (
    <Page title="Agents">
      <div class="content">
        {known === undefined ? (
          activity.error === undefined ? (
            <Loading rows={6} />
          ) : (
            <Failure what="The agents" error={activity.error} retry={activity.reload} />
          )
        ) : (
          <>
            <Sentence />
            <ul class="cards">
              {known.server.agents.map((agent) => (
                <AgentTile key={agent.id} agent={agent} figures={activity.value?.(agent.id)} />
              ))}
            </ul>
          </>
        )}
      </div>
    </Page>
  );
}

/** The state of the server in one sentence; each number leads to what it counts. */
function Sentence(): JSX.Element | null {
  const { server, nodes, deadLetters } = overview.value ?? {};
  if (server === undefined || nodes === undefined) return null;
  const { working = 0, submitted = 0 } = nodes.tasks ?? {};
  const waiting = (nodes.tasks?.["input-required"] ?? 0) + (nodes.tasks?.["auth-required"] ?? 0);
  const atWork = working + submitted;
  return (
    <p class="sentence">
      <strong>{plural(server.agents.length, "agent")}</strong> on {plural(Math.max(1, nodes.nodes.length), "node")}.{" "}
      {atWork === 0 ? (
        "No task is at work"
      ) : (
        <>
          <a class="number" href={href("tasks?state=working")}>
            {plural(atWork, "task")}
          </a>{" "}
          {atWork === 1 ? "is" : "are"} at work
        </>
      )}
      {", "}
      {waiting === 0 ? (
        "none waits for a person"
      ) : (
        <a class="number warn" href={href("inbox")}>
          {count(waiting)} {waiting === 1 ? "waits" : "wait"} for a person
        </a>
      )}
      {deadLetters !== undefined && deadLetters > 0 ? (
        <>
          ,{" "}
          <a class="number bad" href={href("webhooks")}>
            {plural(deadLetters, "webhook")}
          </a>{" "}
          could not be notified.
        </>
      ) : (
        "."
      )}
    </p>
  );
}

function AgentTile({
  agent,
  figures,
}: {
  readonly agent: ServedAgent;
  readonly figures: AgentFigures | undefined;
}): JSX.Element {
  const { id, name } = agent;
  const { value: card, error } = usePolled({ key: `card ${id}`, load: (signal) => fetchCard(id, signal) });
  const problems = card === undefined ? [] : cardProblems(card);
  const page = href(`agents/${encodeURIComponent(id)}`);
  const examples = card?.skills.flatMap((skill) => skill.examples).slice(0, 3) ?? [];
  return (
    <li class="tile">
      <header>
        <AgentFlag id={id} size="large" />
        <div>
          <h2>
            <a href={page}>{name}</a>
          </h2>
          <small>{card === undefined ? `Version ${agent.version}` : skillsIn(card.skills)}</small>
        </div>
        <a class="button" href={`${page}/chat`}>
          <Icon name="chat" />
          Chat
        </a>
      </header>
      <p class="about">{card?.description ?? error?.message ?? ""}</p>
      {problems.length > 0 ? (
        <Notice kind="warn">
          {problems.length === 1 ? problems[0] : `The card has ${problems.length} faults.`}{" "}
          <a class="link" href={page}>
            Read the card
          </a>
        </Notice>
      ) : (
        <p class="examples">
          {examples.map((example) => (
            <a key={example} class="example" href={`${page}/chat?say=${encodeURIComponent(example)}`}>
              {example}
            </a>
          ))}
        </p>
      )}
      <Figures figures={figures} />
    </li>
  );
}

function skillsIn(skills: readonly { readonly name: string }[]): string {
  const [first] = skills;
  return skills.length === 1 && first !== undefined ? first.name : plural(skills.length, "skill");
}

function Figures({ figures }: { readonly figures: AgentFigures | undefined }): JSX.Element {
  const { working = 0, waiting = 0, calls = 0, failedCalls = 0, recent = [] } = figures ?? {};
  return (
    <footer>
      <Figure value={working} word="at work" />
      <Figure value={waiting} word="waiting" kind="warn" />
      <Figure value={calls} word="calls" />
      <Figure value={failedCalls} word="refused" kind="bad" />
      <RecentTasks tasks={recent} />
    </footer>
  );
}

function Figure({
  value,
  word,
  kind = "",
}: {
  readonly value: number;
  readonly word: string;
  readonly kind?: string;
}): JSX.Element {
  return (
    <span class={`figure ${value === 0 ? "zero" : kind}`}>
      <strong>{count(value)}</strong>
      <small>{word}</small>
    </span>
  );
}
