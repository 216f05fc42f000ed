/** One piece of information that a version cannot encode. The texts are rows of docs/guide/versions.md. */
export interface Loss {
  /** The lost information. */
  readonly what: string;
  /** The value that clients get instead. */
  readonly becomes: string;
}
