/** Statements of a card that the server, not the agent, must fulfil. */
export interface CardPromises {
  readonly interfaces: readonly PromisedInterface[];
  readonly isSigned: boolean;
}

export interface PromisedInterface {
  /** The member of the card, for error messages. */
  readonly field: string;
  readonly binding: string;
  readonly protocolVersion: string | undefined;
}
