/** Backs up the original manifest and replaces it with the published form. */
export function swapIn(root: string): void;
/** Restores the original manifest, if there is a backup. */
export function restore(root: string): "nothing-aside" | "restored" | "edited-since";
/** The manifest that goes into the tarball. */
export function publishedForm(original: string): string;
