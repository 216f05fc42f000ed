import type { Codec, EventPlace } from "./codec.ts";

/** What an event's text begins with, made once for all events of a place. `make` gets the members that name the task. */
export function cachedByPlace<T extends string | object>(make: (ids: string) => T): (place: EventPlace) => T {
  const made = new WeakMap<EventPlace, T>();
  return (place) => {
    const known = made.get(place);
    if (known !== undefined) return known;
    const beginning = make(`"taskId":${JSON.stringify(place.taskId)},"contextId":${JSON.stringify(place.contextId)}`);
    made.set(place, beginning);
    return beginning;
  };
}

/**
 * Writes each event once, however many read it, for a version that writes whether the stream ends with a status: of each
 * status there are two texts. `spelling` tells the texts from those of others.
 */
export function cachedEncoder(format: string, write: Codec["encodeEvent"]): Codec["encodeEvent"] {
  const finalSpelling = `${format} final`;
  return (event, place) => {
    const { encoded } = event;
    const key = place.final && event.state !== undefined ? finalSpelling : format;
    const known = encoded?.get(key);
    if (known !== undefined) return known;
    const text = write(event, place);
    encoded?.set(key, text);
    return text;
  };
}
