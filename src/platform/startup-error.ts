/** A problem at start-up that the operator can fix. `message` says what is wrong and what to do, in one or two lines. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  /** `usage`: an option or argument is invalid. `failed`: the options are valid, but the start failed. */
  readonly kind: "usage" | "failed";

  constructor(kind: "usage" | "failed", message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** The message of a thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a system error, such as `EACCES`. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}
