import type { JsonObject } from "palaver/client";
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { secretPart } from "../../../src/protocol/auth-request-part.ts";
import type { WirePart } from "../data/operator-types.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { Button } from "../parts/controls.tsx";
import { MarkdownView } from "../parts/markdown-view.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { exact } from "../text/format.ts";
import type { Outgoing } from "./conversation.ts";
import { metadataOf, type OpenQuestion } from "./question.ts";

export interface QuestionCardProps {
  readonly question: OpenQuestion;
  readonly onAnswer: (message: Outgoing) => void;
}

/** A question of the agent, with a form for its answer. */
export function QuestionCard({ question, onAnswer }: QuestionCardProps): JSX.Element {
  return (
    <section class="question" aria-label="Question of the agent">
      <header>
        <StateMark state={question.isAuthorization ? "auth-required" : "input-required"} bare />
        <div class="asked">
          <MarkdownView text={question.text} />
        </div>
      </header>
      <AnswerForm question={question} onAnswer={onAnswer} />
    </section>
  );
}

/** What the agent gets when somebody says that the authorisation is done. */
const AUTHORISED = "I have authorised it.";

/** The form of a question's schema, a button for what was authorised elsewhere, or a field for words. Words can always be chosen. */
export function AnswerForm({ question, onAnswer }: QuestionCardProps): JSX.Element {
  const { schema, taskId, authorization, isAuthorization, isSecret } = question;
  const isDoneElsewhere = isAuthorization && !isSecret && schema === undefined && authorization?.key === undefined;
  const needsWords = schema === undefined && !isDoneElsewhere;
  const [inWords, setInWords] = useState(needsWords);
  const answer = { taskId, metadata: metadataOf(question) };
  const other = !needsWords && (
    <Button kind="quiet" onClick={() => setInWords(!inWords)}>
      {!inWords ? "Answer in words" : isDoneElsewhere ? "Back" : "Answer with the form"}
    </Button>
  );
  return (
    <>
      {authorization !== undefined && <Authorization question={question} />}
      {inWords ? (
        <>
          <WordsForm question={question} onAnswer={onAnswer} />
          {other}
        </>
      ) : schema === undefined ? (
        <p class="actions">
          <Button kind="main" onClick={() => onAnswer({ ...answer, parts: [{ text: AUTHORISED }] })}>
            I have authorised it
          </Button>
          {other}
        </p>
      ) : (
        <SchemaForm
          schema={schema}
          action="Answer"
          onSubmit={(value) => onAnswer({ ...answer, parts: [{ data: value }] })}
        >
          {other}
        </SchemaForm>
      )}
    </>
  );
}

/** What is to be authorised. */
function Authorization({ question }: { readonly question: OpenQuestion }): JSX.Element | null {
  const { authorization } = question;
  if (authorization === undefined) return null;
  const schemes = authorization.schemes?.map((scheme) =>
    typeof scheme === "string" ? scheme : typeof scheme["type"] === "string" ? scheme["type"] : "another way",
  );
  return (
    <dl class="facts">
      {authorization.description !== undefined && authorization.description !== question.text && (
        <div>
          <dt>For</dt>
          <dd>{authorization.description}</dd>
        </div>
      )}
      {schemes !== undefined && (
        <div>
          <dt>By</dt>
          <dd>{schemes.join(", ")}</dd>
        </div>
      )}
      {authorization.expiresAt !== undefined && (
        <div>
          <dt>Until</dt>
          <dd>{exact(Date.parse(authorization.expiresAt))}</dd>
        </div>
      )}
      {authorization.key !== undefined && (
        <div>
          <dt>Secret</dt>
          <dd>encrypted in this page, for the agent alone</dd>
        </div>
      )}
    </dl>
  );
}

function WordsForm({ question, onAnswer }: QuestionCardProps): JSX.Element {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const id = useId();
  const { taskId, isSecret, authorization } = question;
  const field = {
    id,
    autocomplete: "off",
    "aria-describedby": `${id}-problem`,
    value: text,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => setText(event.currentTarget.value),
  };
  const send = async (): Promise<void> => {
    if (text.trim() === "") {
      setProblem("An answer is needed.");
      return;
    }
    const key = authorization?.key;
    const part = key === undefined ? { text } : await encrypted(key, text);
    onAnswer({ taskId, metadata: metadataOf(question), isSecret, parts: [part] });
  };
  return (
    <form
      class="words"
      onSubmit={(event) => {
        event.preventDefault();
        send().catch((error: unknown) => setProblem(String(error)));
      }}
    >
      <label for={id}>{isSecret ? "Your answer, which is hidden" : "Your answer"}</label>
      {isSecret ? <input type="password" {...field} /> : <input type="text" {...field} />}
      <small id={`${id}-problem`} class="hint problem">
        {problem}
      </small>
      <Button kind="main" submit>
        Answer
      </Button>
    </form>
  );
}

async function encrypted(key: JsonObject, text: string): Promise<WirePart> {
  const { encryptTo } = await import("palaver/client");
  return secretPart(await encryptTo(key, text));
}
