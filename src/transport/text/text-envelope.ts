/** Wraps the JSON text of every result, event and error of one call, as the binding requires. */
export interface TextEnvelope {
  result(text: string): string;
  error(text: string): string;
}
