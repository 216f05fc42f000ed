import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fetchCard } from "../agents/agent-card.ts";
import { Page } from "../app/frame.tsx";
import { agentUrl, href } from "../app/place.ts";
import { navigate, route, setQuery } from "../app/route.ts";
import { isTyping } from "../app/shortcuts.ts";
import { operatorApi } from "../data/operator-api.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Button } from "../parts/controls.tsx";
import { Notice } from "../parts/notice.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { Composer } from "./composer.tsx";
import { type Conversation, type Outgoing, openConversation } from "./conversation.ts";
import { ConversationPicker, DialectPicker } from "./pickers.tsx";
import { AgentTurnView, UserTurnView } from "./turn-view.tsx";
import type { AgentTurn, Turn } from "./turns.ts";
import { WireDrawer } from "./wire-drawer.tsx";

/** A conversation with one agent. */
export function ChatPage({ id, rest }: { readonly id: string; readonly rest: string | undefined }): JSX.Element {
  const [generation, setGeneration] = useState(0);
  const [credential, setCredential] = useState("");
  const dialect = route.value.query.get("dialect") ?? "";
  const known = useRef("");
  // The address gets the context of a new conversation once the agent has answered; that must not begin another one.
  const context = rest ?? "";
  const isOwn = context !== "" && context === known.current;
  const opened = useRef("");
  if (!isOwn) opened.current = context;
  const conversation = useMemo(
    () => openConversation({ agent: id, contextId: opened.current, dialect, credential }),
    [id, opened.current, dialect, credential, generation],
  );
  useEffect(() => () => conversation.close(), [conversation]);
  const contextId = conversation.contextId.value;
  useEffect(() => {
    if (contextId === "" || contextId === rest) return;
    known.current = contextId;
    const { search } = location;
    navigate(`${href(`agents/${encodeURIComponent(id)}/chat/${encodeURIComponent(contextId)}`)}${search}`, {
      replace: true,
    });
  }, [contextId]);
  const restart = (): void => {
    known.current = "";
    navigate(href(`agents/${encodeURIComponent(id)}/chat`));
    setGeneration(generation + 1);
  };
  return (
    <Chat
      key={generation}
      id={id}
      conversation={conversation}
      onNew={restart}
      credential={credential}
      onCredential={setCredential}
    />
  );
}

interface ChatProps {
  readonly id: string;
  readonly conversation: Conversation;
  readonly onNew: () => void;
  readonly credential: string;
  readonly onCredential: (credential: string) => void;
}

function Chat({ id, conversation, onNew, credential, onCredential }: ChatProps): JSX.Element {
  const { query, isFirst } = route.value;
  const { value: card } = usePolled({ key: `card ${id}`, load: (signal) => fetchCard(id, signal) });
  const name = card?.name ?? agentName(id);
  const hasWire = query.has("wire");
  const turns = conversation.turns.value;
  const running = turns.findLast((turn): turn is AgentTurn => turn.kind === "agent" && turn.endedAt === undefined);
  const failure = conversation.failure.value;
  const example = query.get("say") ?? "";
  const again = query.get("again") ?? "";
  const send = (message: Outgoing): void => void conversation.send(message);
  const stop = (): void => {
    if (running?.task !== undefined) void conversation.cancel(running.task.id);
  };
  useEffect(() => {
    if (example === "") return;
    setQuery({ say: undefined }, true);
    // A link on another site must not send anything: it only fills in the field.
    if (!isFirst) send({ parts: [{ text: example }] });
  }, [conversation]);
  useEffect(() => {
    if (again === "") return;
    setQuery({ again: undefined }, true);
    // As above: only a click inside the console sends.
    if (!isFirst) sendAgain(again, send).catch(() => undefined);
  }, [conversation]);
  /** What the agent refused; it is sent again with the credential. */
  const unsent = useRef<Outgoing>(undefined);
  useEffect(() => {
    const message = unsent.current;
    unsent.current = undefined;
    if (message !== undefined) send(message);
  }, [conversation]);
  useChatKeys({ onNew, onWire: () => setQuery({ wire: hasWire ? undefined : "1" }, true) });
  return (
    <Page
      title={name}
      fixed
      heading={
        <>
          <a class="wide-only" href={href("")}>
            Agents
          </a>
          <span class="slash wide-only">/</span>
          <AgentFlag id={id} />
          <a href={href(`agents/${encodeURIComponent(id)}`)}>{name}</a>
        </>
      }
      actions={
        <>
          <ConversationPicker agent={id} contextId={conversation.contextId.value} />
          <DialectPicker client={conversation.client.value} value={query.get("dialect") ?? ""} />
          <Button icon="plus" hint="New conversation (C)" onClick={onNew}>
            <span class="wide-only">New conversation</span>
            <span class="hidden narrow-only">New conversation</span>
          </Button>
          <Button
            icon="wire"
            pressed={hasWire}
            hint="Wire (W)"
            onClick={() => setQuery({ wire: hasWire ? undefined : "1" }, true)}
          >
            <span class="wide-only">Wire</span>
            <span class="hidden narrow-only">Wire</span>
          </Button>
        </>
      }
    >
      <div class={hasWire ? "chat with-wire" : "chat"}>
        <div class="talk">
          <Transcript
            id={id}
            name={name}
            turns={turns}
            onAnswer={send}
            examples={card?.skills.flatMap(({ examples }) => examples) ?? []}
          />
          {(failure !== undefined || conversation.needsCredential.value) && (
            <div class="failure">
              {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
              <Credential
                value={credential}
                onChange={(value) => {
                  unsent.current = unsentOf(turns);
                  onCredential(value);
                }}
              />
            </div>
          )}
          <Composer
            name={name}
            skills={card?.skills ?? []}
            start={{ text: isFirst ? example : "", skill: query.get("skill") ?? "" }}
            isBusy={running?.task !== undefined}
            onSend={send}
            onStop={stop}
          />
        </div>
        {hasWire && (
          <WireDrawer
            log={conversation.wire}
            agent={agentUrl(id)}
            onClose={() => setQuery({ wire: undefined }, true)}
          />
        )}
      </div>
    </Page>
  );
}

/** Sends the first message of a stored task once more. */
async function sendAgain(key: string, send: (message: Outgoing) => void): Promise<void> {
  const { history } = await operatorApi.task(key, { journal: "false" });
  const parts = history[0]?.message.parts ?? [];
  if (parts.length > 0) send({ parts });
}

/** The first message, if that is all there is and the agent refused it. */
function unsentOf([said, answer, ...others]: readonly Turn[]): Outgoing | undefined {
  const isRefused = answer?.kind === "agent" && answer.failure !== undefined && answer.task === undefined;
  return said?.kind === "user" && isRefused && others.length === 0 ? { parts: said.parts } : undefined;
}

/** A credential for agents that need one. It stays in memory, and is masked in the wire. */
function Credential({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): JSX.Element {
  const [text, setText] = useState(value);
  return (
    <form
      class="words"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <label for="credential">API key or token for this agent</label>
      <input
        id="credential"
        type="password"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button submit>Connect</Button>
      <small class="hint">Sent where the card of the agent says. It is kept until this page is left.</small>
    </form>
  );
}

/** `C` begins a conversation, `W` opens the wire. */
function useChatKeys({ onNew, onWire }: { readonly onNew: () => void; readonly onWire: () => void }): void {
  const latest = useRef({ onNew, onWire });
  latest.current = { onNew, onWire };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "c") latest.current.onNew();
      if (event.key === "w") latest.current.onWire();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

interface TranscriptProps {
  readonly id: string;
  readonly name: string;
  readonly turns: readonly Turn[];
  readonly examples: readonly string[];
  readonly onAnswer: (message: Outgoing) => void;
}

/** The conversation. It stays at its end while one does not scroll up. */
function Transcript({ id, name, turns, examples, onAnswer }: TranscriptProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    isAtEnd.current = true;
  }, [turns.length]);
  useEffect(() => {
    const element = list.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  });
  const onScroll = (): void => {
    const element = list.current;
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  };
  return (
    <div
      ref={list}
      class="transcript"
      onScroll={onScroll}
      tabIndex={0}
      role="log"
      aria-label={`Conversation with ${name}`}
      aria-live="off"
    >
      {turns.length === 0 && (
        <div class="empty">
          <AgentFlag id={id} size="large" />
          <h2>Say something to {name}</h2>
          <p class="examples">
            {examples.slice(0, 6).map((example) => (
              <button
                key={example}
                type="button"
                class="example"
                onClick={() => onAnswer({ parts: [{ text: example }] })}
              >
                {example}
              </button>
            ))}
          </p>
        </div>
      )}
      <h2 class="hidden">Conversation</h2>
      <ol class="turns">
        {turns.map((turn) =>
          turn.kind === "user" ? (
            <UserTurnView key={turn.key} turn={turn} />
          ) : (
            <AgentTurnView
              key={turn.key}
              agent={id}
              name={name}
              turn={turn}
              isLast={isLastOf(turns, turn)}
              onAnswer={onAnswer}
            />
          ),
        )}
      </ol>
    </div>
  );
}

/** Whether no later turn belongs to the same task. */
function isLastOf(turns: readonly Turn[], turn: AgentTurn): boolean {
  const taskId = turn.task?.id;
  return (
    turns.findLast((each) => each.kind === "agent" && each.task?.id === taskId) === turn && !isAnswered(turns, turn)
  );
}

/** An answer was sent, and the agent has not reacted yet. */
function isAnswered(turns: readonly Turn[], turn: AgentTurn): boolean {
  const next = turns.slice(turns.indexOf(turn) + 1).find((each): each is AgentTurn => each.kind === "agent");
  return next !== undefined && next.task === undefined && next.failure === undefined && next.message === undefined;
}
