/** Something the person who starts a server can mend. `message` says what is wrong and what to do, in a line or two. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  /** `usage`: what was asked for makes no sense; `failed`: it does, and did not work out. */
  readonly kind: "usage" | "failed";

  constructor(kind: "usage" | "failed", message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** What a thrown value says, for a line of text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a system error, such as `EACCES`. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}
