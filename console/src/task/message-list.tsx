import type { JSX } from "preact";
import type { TaskAnswer } from "../data/operator-types.ts";
import { Notice } from "../parts/notice.tsx";
import { PartBody } from "../parts/part-view.tsx";
import { plural } from "../text/format.ts";

/** The messages of a task, and those that it has not read. */
export function MessageList({ answer }: { readonly answer: TaskAnswer }): JSX.Element {
  const { history, historyOmitted, inbox } = answer;
  return (
    <>
      {historyOmitted === true && <Notice kind="warn">The messages have more than 1 MB and are left out.</Notice>}
      <ul class="messages">
        {history.map(({ after, message }) => (
          <li key={message.messageId}>
            <p class="soft">
              {message.role === "ROLE_USER" ? "The caller" : "The agent"}, after event {after}
            </p>
            {message.parts?.map((part, index) => (
              <PartBody key={index} part={part} />
            ))}
          </li>
        ))}
      </ul>
      {inbox.length > 0 && <p class="soft">{plural(inbox.length, "message")} not read yet.</p>}
    </>
  );
}
