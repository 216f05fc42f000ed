declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Identifies a task. Opaque; this server creates UUIDv7, so that tasks created together are stored together. */
export type TaskId = Branded<"TaskId">;
/** Groups tasks of one conversation. */
export type ContextId = Branded<"ContextId">;
/** Created by the sender of the message. */
export type MessageId = Branded<"MessageId">;
/** Unique within its task. */
export type ArtifactId = Branded<"ArtifactId">;
