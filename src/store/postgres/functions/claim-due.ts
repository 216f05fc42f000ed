/** A node claims this many tasks at once, however many nodes there are. */
const SMALLEST_SHARE = 10;

/**
 * `claim_due_3`: claims due tasks, oldest first.
 *
 * A node takes its share of the tasks that nobody else has locked, so nodes that claim at the same time get different ones at once. If all are
 * locked, it waits for their locks in the order of ids, as commits do. Then it looks at them again.
 */
export function claimDueFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.claim_due_3(the_node text, agents text[], most bigint, clock bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    free text[];
    due text[];
    ids text[];
    claimed jsonb;
    next_wake bigint;
    living bigint;
    takers bigint;
    share bigint;
    waiting jsonb;
  BEGIN
    IF NOT ${schema}.is_living_1(the_node, now_ms) THEN
      RETURN '{"tasks":[]}';
    END IF;
    free := ${schema}.free_nodes_1(now_ms);
    SELECT coalesce(jsonb_agg(jsonb_build_object('task', inbox.task, 'id', inbox.id)), '[]') INTO waiting
      FROM ${schema}.task JOIN ${schema}.inbox ON inbox.task = task.id WHERE NOT task.ended AND task.node = the_node;
    SELECT count(*) INTO living FROM ${schema}.node WHERE lease_until > now_ms;
    SELECT array_agg(id ORDER BY n) INTO due
      FROM (SELECT id, n FROM ${schema}.due_1(agents, free, now_ms) ORDER BY n LIMIT most * living) AS oldest;
    IF due IS NOT NULL THEN
      -- The tasks of a node that died are divided among the living ones; those of a node that shuts down, which is living, among the others.
      takers := CASE WHEN EXISTS (SELECT FROM ${schema}.task WHERE NOT ended AND active AND node = '' AND id = ANY (due))
        THEN greatest(1, living - 1) ELSE living END;
      share := least(most, greatest(${SMALLEST_SHARE}, ceil(cardinality(due)::numeric / takers)));
      SELECT array_agg(id) INTO ids FROM (
        SELECT id FROM ${schema}.task WHERE id = ANY (due) ORDER BY n LIMIT share FOR UPDATE SKIP LOCKED) AS unlocked;
      IF ids IS NULL THEN
        SELECT array_agg(id) INTO ids FROM (
          SELECT id FROM ${schema}.task WHERE id = ANY (due[1:share]) ORDER BY id FOR UPDATE) AS waited;
      END IF;
      -- Nobody changes the locked tasks any more: look at them again.
      free := ${schema}.free_nodes_1(now_ms);
      WITH former AS (
        SELECT task.id, task.node FROM ${schema}.task JOIN ${schema}.due_1(agents, free, now_ms) AS still ON still.id = task.id
        WHERE task.id = ANY (ids)
      ), changed AS (
        UPDATE ${schema}.task SET node = the_node, epoch = epoch + 1 FROM former WHERE task.id = former.id
        RETURNING task.*, former.node AS former_node
      )
      SELECT jsonb_agg(jsonb_build_object('id', id, 'agent', agent, 'tenant', tenant, 'owner', owner, 'epoch', epoch,
          'formerNode', former_node, 'seq', ${schema}.last_seq_1(id, seq), 'state', state, 'status', status, 'status_at', status_at,
          'metadata', metadata, 'runner', runner, 'active', active, 'wake_at', wake_at) ORDER BY created_at, n)
        INTO claimed FROM changed;
    END IF;
    SELECT min(wake_at) INTO next_wake FROM ${schema}.task
      WHERE NOT ended AND wake_at IS NOT NULL AND node = ANY (free) AND agent = ANY (agents);
    RETURN jsonb_build_object('tasks', coalesce(claimed, '[]'), 'nextWake', next_wake, 'waiting', waiting, 'others', living - 1, 'nextLapse',
      (SELECT min(lease_until) FROM ${schema}.node WHERE id <> the_node AND lease_until > now_ms
        AND EXISTS (SELECT FROM ${schema}.task WHERE NOT ended AND task.node = node.id)));
  END $$;
  `;
}
