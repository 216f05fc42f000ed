/** One thing that a version cannot say as it is. */
export interface Loss {
  /** What is lost, in a word. */
  readonly what: string;
  /** What its readers get instead. */
  readonly becomes: string;
}
