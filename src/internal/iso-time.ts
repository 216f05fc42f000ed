/** Makes texts like `2030-01-31T12:00:00.000Z`. Under load many are made within one millisecond, so the last one is kept. */
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

export const isoTime: (milliseconds: number) => string = createIsoTime();
