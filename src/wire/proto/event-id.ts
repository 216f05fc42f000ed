/** The member of an event with its id, which A2A does not define; other readers skip it. */
export const EVENT_ID = "palaverEventId";
