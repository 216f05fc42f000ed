import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SkillView } from "../agents/agent-card.ts";
import type { WirePart } from "../data/operator-types.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { Button } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { toBase64 } from "../parts/part-file.ts";
import { bytes } from "../text/format.ts";
import type { Outgoing } from "./conversation.ts";

export interface ComposerProps {
  readonly name: string;
  readonly skills: readonly SkillView[];
  /** The text and the skill to begin with. */
  readonly start: { readonly text: string; readonly skill: string };
  /** A task is at work: it can be stopped. */
  readonly isBusy: boolean;
  readonly onSend: (message: Outgoing) => void;
  readonly onStop: () => void;
}

/** The most bytes of all files of a message. */
const MOST_BYTES = 7_000_000;

/** Where messages are written. Enter sends, Shift and Enter begins a line; files can be dropped anywhere on the page. */
export function Composer({ name, skills, start, isBusy, onSend, onStop }: ComposerProps): JSX.Element {
  const [text, setText] = useState(start.text);
  const [skillId, setSkillId] = useState(start.skill);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [problem, setProblem] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const skill = skills.find(({ id }) => id === skillId);
  useEffect(() => area.current?.focus(), []);
  useEffect(() => grow(area.current), [text]);
  const add = (more: readonly File[]): void => {
    const all = [...files, ...more];
    const isTooLarge = all.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES;
    setProblem(isTooLarge ? `Files of a message may have ${bytes(MOST_BYTES)} together.` : "");
    if (!isTooLarge) setFiles(all);
  };
  const isDropping = useDroppedFiles(add);
  const metadata = skill === undefined ? {} : { metadata: { skillId: skill.id } };
  const send = async (): Promise<void> => {
    if (text.trim() === "" && files.length === 0) return;
    const parts: WirePart[] = [...(text.trim() === "" ? [] : [{ text }]), ...(await Promise.all(files.map(partOf)))];
    setText("");
    setFiles([]);
    onSend({ parts, ...metadata });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <div class={isDropping ? "composer dropping" : "composer"}>
      {skill?.schema !== undefined ? (
        <SchemaForm
          schema={skill.schema}
          action={`Send to ${name}`}
          onSubmit={(value) => onSend({ parts: [{ data: value }], ...metadata })}
        />
      ) : (
        <textarea
          ref={area}
          rows={1}
          aria-label={`Message to ${name}`}
          placeholder={`Message ${name}, or drop files`}
          value={text}
          onKeyDown={onKey}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      {files.length > 0 && (
        <ul class="files">
          {files.map((file, index) => (
            <li key={`${file.name} ${index}`}>
              <Icon name="file" />
              <span class="cut">{file.name}</span>
              <small>{bytes(file.size)}</small>
              <Button
                kind="quiet"
                icon="close"
                label={`Remove ${file.name}`}
                onClick={() => setFiles(files.filter((each) => each !== file))}
              />
            </li>
          ))}
        </ul>
      )}
      {problem !== "" && (
        <p class="hint problem" role="alert">
          {problem}
        </p>
      )}
      <div class="tools">
        <Button kind="quiet" icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        {skills.length > 0 && (
          <select aria-label="Skill" value={skillId} onChange={(event) => setSkillId(event.currentTarget.value)}>
            <option value="">Any skill</option>
            {skills.map(({ id, name: skillName }) => (
              <option key={id} value={id}>
                {skillName}
              </option>
            ))}
          </select>
        )}
        <span class="grow" />
        {isBusy && (
          <Button icon="stop" kind="danger" onClick={onStop}>
            Stop
          </Button>
        )}
        {skill?.schema === undefined && (
          <Button
            kind="main"
            icon="send"
            label="Send"
            disabled={text.trim() === "" && files.length === 0}
            onClick={() => void send()}
          />
        )}
      </div>
    </div>
  );
}

async function partOf(file: File): Promise<WirePart> {
  const raw = toBase64(new Uint8Array(await file.arrayBuffer()));
  return { raw, filename: file.name, mediaType: file.type || "application/octet-stream" };
}

/** Up to ten lines. */
function grow(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.rows = 1;
  const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 22;
  area.rows = Math.min(10, Math.max(1, Math.floor((area.scrollHeight - 4) / line)));
}

/** Files that are dropped on the page. Returns whether files are held over it. */
function useDroppedFiles(add: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(add);
  latest.current = add;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      latest.current([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}
