import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { DeadLetter, Webhook } from "../data/operator-types.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Button } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment, useNow } from "../parts/moment.tsx";
import { Empty, Failure, Loading } from "../parts/notice.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { count, duration, plural } from "../text/format.ts";

/** Webhooks whose delivery failed for good, those that are tried again, and those that are notified. */
export function WebhooksPage(): JSX.Element {
  const { value, error, reload } = usePolled({
    key: "webhooks",
    every: 2500,
    load: async (signal) => {
      const [{ webhooks }, { deadLetters }] = await Promise.all([
        operatorApi.webhooks(signal),
        operatorApi.deadLetters({ limit: 200 }, signal),
      ]);
      return { webhooks, letters: deadLetters };
    },
  });
  if (value === undefined)
    return (
      <Page title="Webhooks">
        <div class="content">
          {error === undefined ? (
            <Loading rows={6} />
          ) : error.status === 501 ? (
            <Empty icon="webhooks" title="This server does not notify webhooks.">
              <p>They are turned off (--no-push).</p>
            </Empty>
          ) : (
            <Failure what="The webhooks" error={error} retry={reload} />
          )}
        </div>
      </Page>
    );
  const { webhooks, letters } = value;
  const failing = webhooks.filter(({ attempts }) => attempts > 0);
  const working = webhooks.filter(({ attempts }) => attempts === 0);
  return (
    <Page title="Webhooks">
      <div class="content">
        <p class="sentence">
          <strong>{plural(webhooks.length, "webhook")}</strong> of running tasks.{" "}
          {failing.length === 0 ? (
            "None is being tried again"
          ) : (
            <span class="warn">{count(failing.length)} being tried again</span>
          )}
          , {letters.length === 0 ? "none was given up." : <span class="bad">{count(letters.length)} given up.</span>}
        </p>
        {webhooks.length + letters.length === 0 && (
          <Empty icon="webhooks" title="No task has a webhook now.">
            <p>
              To try one, receive notifications here: <code>palaver hooks listen</code>
            </p>
          </Empty>
        )}
        {letters.length > 0 && <Letters letters={letters} onDone={reload} />}
        {failing.length > 0 && <WebhookTable title="Tried again" webhooks={failing} />}
        {working.length > 0 && <WebhookTable title="Notified" webhooks={working} />}
      </div>
    </Page>
  );
}

function Letters({
  letters,
  onDone,
}: {
  readonly letters: readonly DeadLetter[];
  readonly onDone: () => void;
}): JSX.Element {
  return (
    <>
      <h2 class="section">
        Given up <small>Each can go on with the first event that it did not get. Tasks are not affected.</small>
      </h2>
      <table class="rows stacked">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">Agent</th>
            <th scope="col">Why</th>
            <th scope="col">From event</th>
            <th scope="col" class="num">
              Since
            </th>
            <th scope="col">
              <span class="hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <tr key={`${letter.taskId} ${letter.configId}`}>
              <td class="mono cut" title={letter.url}>
                {withoutScheme(letter.url)}
              </td>
              <td class="agent" data-label="Agent">
                <AgentFlag id={letter.agent} />
                <a href={href(`tasks/${encodeURIComponent(letter.taskId)}`)}>{agentName(letter.agent)}</a>
              </td>
              <td class="bad" data-label="Why">
                {letter.reason} <small>after {plural(letter.attempts, "try", "tries")}</small>
              </td>
              <td data-label="From event">{letter.seq}</td>
              <td class="num" data-label="Since">
                <Moment at={letter.failedAt} />
              </td>
              <td class="num">
                <Redeliver letter={letter} onDone={onDone} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Redeliver({ letter, onDone }: { readonly letter: DeadLetter; readonly onDone: () => void }): JSX.Element {
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState("");
  const redeliver = async (): Promise<void> => {
    setSending(true);
    try {
      const { taskId, configId, agent, tenant, owner } = letter;
      await operatorApi.redeliver({ taskId, configId, agent, tenant, owner });
      onDone();
    } catch (error) {
      setFailure(error instanceof ApiError ? error.message : String(error));
      setSending(false);
    }
  };
  return (
    <>
      {failure !== "" && <small class="bad">{failure}</small>}
      <Button icon="again" disabled={isSending} onClick={() => void redeliver()}>
        Redeliver
      </Button>
    </>
  );
}

function WebhookTable({
  title,
  webhooks,
}: {
  readonly title: string;
  readonly webhooks: readonly Webhook[];
}): JSX.Element {
  const now = useNow();
  return (
    <>
      <h2 class="section">{title}</h2>
      <table class="rows stacked">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">Agent</th>
            <th scope="col">Delivered</th>
            <th scope="col" class="num">
              Next try
            </th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={`${webhook.task} ${webhook.configId}`}>
              <td class="mono cut" title={webhook.url}>
                {withoutScheme(webhook.url)}
              </td>
              <td class="agent" data-label="Agent">
                <AgentFlag id={webhook.agent} />
                <a href={href(`tasks/${encodeURIComponent(webhook.task)}`)}>{agentName(webhook.agent)}</a>
              </td>
              <td data-label="Delivered">
                {webhook.deliveredSeq} of {plural(webhook.lastSeq, "event")}
                {webhook.attempts > 0 && (
                  <span class="warn">
                    {" "}
                    <Icon name="warning" /> {plural(webhook.attempts, "failed try", "failed tries")}
                  </span>
                )}
              </td>
              <td class="num" data-label="Next try">
                {webhook.nextAt === undefined ? "" : `in ${duration(Math.max(0, Date.parse(webhook.nextAt) - now))}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "");
}
