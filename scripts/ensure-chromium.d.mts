/** The path of the Chromium to test with: that of `CHROMIUM_PATH`, else one in the usual places. */
export function findChromium(env?: Readonly<Record<string, string | undefined>>): string | undefined;
