/** What the tools of a test server have seen. */
export interface Records {
  /** Names of the tools that had their effect. */
  readonly calls: string[];
  /** `_meta.traceparent` of the calls. */
  readonly traces: unknown[];
  /** Calls that were canceled. */
  readonly canceled: string[];
}

export function newRecords(): Records {
  return { calls: [], traces: [], canceled: [] };
}

/** A promise that rejects when the signal aborts. */
export function untilCanceled(signal: AbortSignal, records: Records): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      records.canceled.push("wait");
      reject(new Error("canceled"));
    });
  });
}

export const text = (value: string): { content: { type: "text"; text: string }[] } => ({
  content: [{ type: "text", text: value }],
});

/** The tools that a server of this test has, for the tests of its card. */
export const TOOLS: readonly string[] = [
  ...["add", "book_table", "broken", "crash", "github_list_prs", "login", "pay", "picture", "report", "wait"],
];

export const PICTURE = "iVBORw0KGgo=";
