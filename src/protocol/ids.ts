declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Identifies a task. Opaque; ours are UUIDv7, so that neighbours in time are neighbours in the store. */
export type TaskId = Branded<"TaskId">;
/** Groups tasks of one conversation. */
export type ContextId = Branded<"ContextId">;
/** Made by whoever wrote the message. */
export type MessageId = Branded<"MessageId">;
/** Unique within its task. */
export type ArtifactId = Branded<"ArtifactId">;
