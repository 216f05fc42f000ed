/** A time as text, such as `2030-01-31T12:00:00.000Z`. The last result is cached: under load many calls have the same millisecond. */
export function createIsoTime(): (milliseconds: number) => string {
  let last = Number.NaN;
  let text = "";
  return (milliseconds) => {
    if (milliseconds !== last) {
      text = new Date(milliseconds).toISOString();
      last = milliseconds;
    }
    return text;
  };
}

/** The instance that the whole process uses. */
export const isoTime: (milliseconds: number) => string = createIsoTime();
