import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { WirePart } from "../data/operator-types.ts";
import { bytes } from "../text/format.ts";
import { safeUrl } from "../text/markdown.ts";
import { Button } from "./controls.tsx";
import { HtmlPreview } from "./html-preview.tsx";
import { Icon } from "./icon.tsx";
import { JsonView } from "./json-view.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { bytesOf, csvRows, fileName, isHtml, kindOf, textOfPart } from "./part-file.ts";

const CSV_ROWS = 21;
/** Characters that are drawn at once: a long text must not stop the page. */
const FIRST_TEXT = 10_000;
const MORE_TEXT = 50_000;

/** The content of a part, by its kind. */
export function PartBody({ part }: { readonly part: WirePart }): JSX.Element {
  switch (kindOf(part)) {
    case "markdown":
      return <LongText text={textOfPart(part)} isMarkdown />;
    case "json":
      return <JsonView value={part.data === undefined ? parsed(textOfPart(part)) : part.data} />;
    case "table":
      return <CsvTable text={textOfPart(part)} />;
    case "image":
      return <Picture part={part} />;
    case "link":
      return <LinkPart url={part.url ?? ""} />;
    case "file":
      return <p class="soft">This kind of file is not shown.</p>;
    default:
      return <LongText text={textOfPart(part)} />;
  }
}

/** The beginning of a text; more of it on demand. The download has all. */
function LongText({ text, isMarkdown = false }: { readonly text: string; readonly isMarkdown?: boolean }): JSX.Element {
  const [most, setMost] = useState(FIRST_TEXT);
  const shown = text.length > most ? text.slice(0, most) : text;
  return (
    <>
      {isMarkdown ? (
        <MarkdownView text={shown} />
      ) : (
        <pre class="code" tabIndex={0}>
          {shown}
        </pre>
      )}
      {text.length > most && (
        <p class="more">
          <Button onClick={() => setMost(most + MORE_TEXT)}>Show more</Button>{" "}
          <span class="soft">{bytes(text.length - most)} are not shown</span>
        </p>
      )}
    </>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface PartCardProps {
  readonly part: WirePart;
  /** If the part has no name of its own. */
  readonly name: string;
  /** Show the text as it is. Default false. */
  readonly isSource?: boolean;
}

/** A card with the name, the size and the content of a part; it can always be downloaded. */
export function PartCard({ part, name, isSource = false }: PartCardProps): JSX.Element {
  const { text, raw, data } = part;
  const size = useMemo(() => bytesOf(part).length, [text, raw, data]);
  const shown = fileName(part, name);
  const [isPreview, setPreview] = useState(false);
  return (
    <figure class="part">
      <figcaption>
        <Icon name="file" />
        <strong class="cut">{shown}</strong>
        <span class="soft cut">
          {part.mediaType === undefined ? "" : `${part.mediaType}, `}
          {part.url === undefined ? bytes(size) : "by reference"}
        </span>
        {isHtml(part) && (
          <Button kind="quiet" pressed={isPreview} onClick={() => setPreview(!isPreview)}>
            Preview
          </Button>
        )}
        {part.url === undefined && <Download part={part} name={shown} />}
      </figcaption>
      {isPreview ? (
        <HtmlPreview html={textOfPart(part)} name={shown} />
      ) : isSource && part.url === undefined ? (
        <LongText text={part.data === undefined ? textOfPart(part) : JSON.stringify(part.data, undefined, 2)} />
      ) : (
        <PartBody part={part} />
      )}
    </figure>
  );
}

/** Saves the bytes of a part as a file. They are never opened as a page: as `octet-stream` no browser runs them. */
function Download({ part, name }: { readonly part: WirePart; readonly name: string }): JSX.Element {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([bytesOf(part)], { type: "application/octet-stream" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <button type="button" class="button quiet square" aria-label={`Download ${name}`} title="Download" onClick={save}>
      <Icon name="download" />
    </button>
  );
}

function Picture({ part }: { readonly part: WirePart }): JSX.Element {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytesOf(part)], { type: part.mediaType ?? "image/png" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [part.raw]);
  return (
    <div class="picture">{url !== undefined && <img src={url} alt={fileName(part, "Picture of the agent")} />}</div>
  );
}

function LinkPart({ url }: { readonly url: string }): JSX.Element {
  const safe = safeUrl(url);
  if (safe === undefined) return <p class="code">{url}</p>;
  return (
    <p>
      <a class="link" href={safe} target="_blank" rel="noopener noreferrer">
        {safe}
      </a>
    </p>
  );
}

function CsvTable({ text }: { readonly text: string }): JSX.Element {
  const [head = [], ...rows] = csvRows(text, CSV_ROWS);
  return (
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === CSV_ROWS - 1 && <p class="soft">The first {CSV_ROWS - 1} rows. The download has all.</p>}
    </div>
  );
}
