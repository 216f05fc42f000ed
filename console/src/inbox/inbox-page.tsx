import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { navigate, route, setQuery } from "../app/route.ts";
import { isTyping } from "../app/shortcuts.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Choice } from "../parts/controls.tsx";
import { useNow } from "../parts/moment.tsx";
import { Empty, Failure, Loading } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { duration, plural } from "../text/format.ts";
import { InboxItem } from "./inbox-item.tsx";
import { type AnsweredTask, type Order, useInbox, type WaitingTask } from "./waiting-tasks.ts";

const ORDERS = [
  ["left", "Time left"],
  ["oldest", "Oldest"],
] as const;

/** Everything that waits for a person, of all agents. It is answered here. */
export function InboxPage({ id }: { readonly id: string }): JSX.Element {
  const order: Order = route.value.query.get("order") === "oldest" ? "oldest" : "left";
  const { waiting, answered, hasMore, polled } = useInbox(order);
  /** The question that was answered here: it makes room for the next one. */
  const done = useRef("");
  const chosen = useChosen(id, { waiting, answered, done: done.current });
  useInboxKeys(waiting, chosen);
  const total = waiting?.length ?? 0;
  const goOn = (): void => {
    const at = waiting?.findIndex(({ key }) => key === chosen?.key) ?? -1;
    const next = waiting?.[at + 1] ?? waiting?.find(({ key }) => key !== chosen?.key);
    if (next === undefined) navigate(href("inbox"));
    else open(next);
  };
  return (
    <Page
      title="Inbox"
      fixed
      heading={
        <>
          Inbox{" "}
          <span class="soft">
            {waiting === undefined
              ? ""
              : total === 0
                ? "nothing waits"
                : `${plural(total, "question")}${hasMore ? " and more" : ""}`}
          </span>
        </>
      }
      actions={
        <Choice
          label="Order"
          options={ORDERS}
          value={order}
          onChange={(next) => setQuery({ order: next === "left" ? undefined : next }, true)}
        />
      }
    >
      {waiting === undefined ? (
        <div class="content">
          {polled.error === undefined ? (
            <Loading rows={6} />
          ) : (
            <Failure what="The questions" error={polled.error} retry={polled.reload} />
          )}
        </div>
      ) : total + answered.length === 0 && chosen === undefined ? (
        <Empty icon="inbox" title="Nothing waits for a person.">
          <p>Questions and requests to sign in appear here, whichever agent asks.</p>
        </Empty>
      ) : (
        <div class={id === "" ? "inbox" : "inbox has-item"}>
          <InboxList waiting={waiting} answered={answered} chosen={chosen?.key} />
          {chosen !== undefined && (
            <InboxItem
              key={chosen.key}
              waiting={chosen}
              taken={answered.find(({ key }) => key === chosen.key)}
              onAnswered={() => {
                done.current = chosen.key;
                polled.reload();
                goOn();
              }}
            />
          )}
        </div>
      )}
    </Page>
  );
}

function open({ task }: WaitingTask): void {
  navigate(`${href(`inbox/${encodeURIComponent(task.key)}`)}${location.search}`);
}

interface Choosable {
  readonly waiting: readonly WaitingTask[] | undefined;
  readonly answered: readonly AnsweredTask[];
  readonly done: string;
}

/** The chosen question. It stays with what one has typed, also after somebody else has answered it, until one answers it or chooses another one. */
function useChosen(id: string, { waiting, answered, done }: Choosable): WaitingTask | undefined {
  const kept = useRef<WaitingTask>(undefined);
  const open = id === "" ? waiting?.[0] : waiting?.find(({ task }) => task.key === id);
  const before = kept.current;
  const isKept = before !== undefined && before.key !== done && (id === "" || before.task.key === id);
  if (!isKept) kept.current = open ?? answered.find(({ task }) => task.key === id);
  return kept.current;
}

interface InboxListProps {
  readonly waiting: readonly WaitingTask[];
  readonly answered: readonly AnsweredTask[];
  readonly chosen: string | undefined;
}

function InboxList({ waiting, answered, chosen }: InboxListProps): JSX.Element {
  const now = useNow();
  return (
    <nav class="inbox-list" aria-label="Questions">
      <ul>
        {waiting.map((each) => (
          <li key={each.key}>
            <a
              href={`${href(`inbox/${encodeURIComponent(each.task.key)}`)}${location.search}`}
              aria-current={each.key === chosen ? "true" : undefined}
            >
              <AgentFlag id={each.task.agent} />
              <span class="asked">{plainText(each.question.text)}</span>
              <span class={isUrgent(each, now) ? "left bad" : "left"}>
                {each.until === undefined ? "" : `${duration(each.until - now)} left`}
              </span>
              <small class="cut">
                <StateMark state={each.task.state} bare /> {agentName(each.task.agent)} for {each.task.owner}, for{" "}
                {duration(now - Date.parse(each.task.statusAt))}
              </small>
            </a>
          </li>
        ))}
      </ul>
      {answered.length > 0 && (
        <>
          <h2>Answered while you are here</h2>
          <ul class="answered">
            {answered.map((each) => (
              <li key={each.key}>
                <a href={href(`tasks/${encodeURIComponent(each.task.key)}`)}>
                  <AgentFlag id={each.task.agent} />
                  <span class="asked">{plainText(each.question.text)}</span>
                  <small class="cut">{answerWords(each)}</small>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="keys wide-only">
        <kbd>J</kbd> <kbd>K</kbd> move <kbd>⌘↵</kbd> answer and go on
      </p>
    </nav>
  );
}

/** Without the signs of Markdown. */
function plainText(text: string): string {
  return text.replace(/[*_`#]+/g, "");
}

/** Whether less than an hour is left. */
function isUrgent({ until }: WaitingTask, now: number): boolean {
  return until !== undefined && until - now < 3_600_000;
}

function answerWords({ answer, question }: AnsweredTask): string {
  if (answer === undefined) return "answered";
  if (answer.by === "") return `not answered: ${answer.text || "the task went on"}`;
  return `${answer.by} answered${question.isSecret ? "" : `: ${answer.text}`}`;
}

/** `J` and `K` choose the next and the previous question. */
function useInboxKeys(waiting: readonly WaitingTask[] | undefined, chosen: WaitingTask | undefined): void {
  const latest = useRef({ waiting, chosen });
  latest.current = { waiting, chosen };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      const { waiting: all = [], chosen: current } = latest.current;
      const next = step === 0 ? undefined : all[all.findIndex(({ key }) => key === current?.key) + step];
      if (next !== undefined) open(next);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
