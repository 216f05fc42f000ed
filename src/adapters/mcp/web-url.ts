/** The address, if it is one of the web; anything else, such as `javascript:` or `file:`, is not shown as a link. */
export function webUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : undefined;
}
