// Encoding of stream events without repeating work. One event may have thousands of readers, so its text is encoded once per format and
// cached beside the stored event; one stream may have thousands of events, so the ids at the beginning of each text are encoded once per
// stream.

import type { Codec, EventPlace } from "./codec.ts";

/** Caches the beginning of event texts per stream. `make` receives the members `"taskId":…,"contextId":…` as text. */
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
 * Caches the encoded texts of each event, so that `write` runs once for all readers. For versions with the member `final`: a status event
 * then has two texts. `format` is the cache key and must be unique per format.
 */
export function cachedEncoder(format: string, write: Codec["encodeEvent"]): Codec["encodeEvent"] {
  const finalFormat = `${format} final`;
  return (event, place) => {
    const { encoded } = event;
    const key = place.final && event.state !== undefined ? finalFormat : format;
    const known = encoded?.get(key);
    if (known !== undefined) return known;
    const text = write(event, place);
    encoded?.set(key, text);
    return text;
  };
}
