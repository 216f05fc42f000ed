/** The newest version in which the caller of a new task may choose its id. */
export const VERSION_WITH_CHOSEN_IDS = "0.2";
