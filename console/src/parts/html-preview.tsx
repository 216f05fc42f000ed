import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Forbids everything but the text and its structure, also where the policy of the page would allow more, and no names are looked up. */
const POLICY =
  `<meta http-equiv="content-security-policy" content="default-src 'none'; base-uri 'none'; form-action 'none'">` +
  `<meta http-equiv="x-dns-prefetch-control" content="off">`;

export interface HtmlPreviewProps {
  readonly html: string;
  readonly name: string;
}

/**
 * HTML of an agent in a frame that may do nothing: no scripts, forms, links to other pages, styles, pictures or requests. The frame has an origin of
 * its own, so that it cannot read the console either.
 */
export function HtmlPreview({ html, name }: HtmlPreviewProps): JSX.Element {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([POLICY, html], { type: "text/html; charset=utf-8" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [html]);
  return (
    <div class="preview">
      {url !== undefined && <iframe sandbox="" src={url} title={`Preview of ${name}`} referrerpolicy="no-referrer" />}
      <p class="soft">Without scripts, styles, pictures and links.</p>
    </div>
  );
}
