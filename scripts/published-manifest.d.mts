/** Puts the original manifest aside and the published form in its place. */
export function swapIn(root: string): void;
/** Puts the original back, if one is aside. */
export function restore(root: string): "nothing-aside" | "restored" | "edited-since";
/** The manifest that goes into the tarball. */
export function publishedForm(original: string): string;
