/** The path of the Chromium for the tests: `CHROMIUM_PATH`, otherwise one in the usual places. */
export function findChromium(env?: Readonly<Record<string, string | undefined>>): string | undefined;
