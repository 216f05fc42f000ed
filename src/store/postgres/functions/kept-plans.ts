/**
 * Settings of a function that looks up a list of tasks. The server keeps the plan of each statement instead of planning it for each list anew, which
 * costs more than the lookups; and it always uses indexes, also if the plan was made while the tables were small.
 */
export const KEPT_PLANS =
  "SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off";
