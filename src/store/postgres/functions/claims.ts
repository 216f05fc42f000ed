/** A node claims this many tasks at once, however many nodes there are. */
const SMALLEST_SHARE = 10;

/**
 * `claim_due_1`, `claim_webhooks_1`, `heartbeat_1` and `leave_1`.
 *
 * A claim first takes the tasks that nobody else has locked, so that nodes that claim at the same time get different ones. If all are locked, it
 * waits for their locks in the order of ids, as commits do, and looks at them again.
 */
export function claimFunctions(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.heartbeat_1(the_node text, lease_ms bigint, clock bigint) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
  BEGIN
    INSERT INTO ${schema}.node (id, lease_until) VALUES (the_node, now_ms + lease_ms)
      ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until;
    RETURN now_ms;
  END $$;

  CREATE FUNCTION ${schema}.leave_1(the_node text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM ${schema}.node WHERE id = the_node;
    PERFORM FROM ${schema}.task
      WHERE (NOT ended AND node = the_node) OR id IN (SELECT task FROM ${schema}.webhook WHERE state = 'active' AND webhook.node = the_node)
      ORDER BY id FOR UPDATE;
    UPDATE ${schema}.task SET node = '' WHERE NOT ended AND node = the_node;
    UPDATE ${schema}.webhook SET node = '' WHERE state = 'active' AND node = the_node;
  END $$;

  -- The nodes that hold leases and are not living, and the empty name, which stands for no node. Found by skipping from node to node.
  CREATE FUNCTION ${schema}.free_nodes_1(now_ms bigint) RETURNS text[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE holder (node) AS (
      (SELECT node FROM ${schema}.task WHERE NOT ended AND node <> '' ORDER BY node LIMIT 1)
      UNION ALL
      SELECT (SELECT task.node FROM ${schema}.task WHERE NOT ended AND task.node <> '' AND task.node > holder.node ORDER BY task.node LIMIT 1)
        FROM holder WHERE holder.node IS NOT NULL
    ), claimant (node) AS (
      (SELECT node FROM ${schema}.webhook WHERE state = 'active' AND node <> '' ORDER BY node LIMIT 1)
      UNION ALL
      SELECT (SELECT webhook.node FROM ${schema}.webhook WHERE state = 'active' AND webhook.node > claimant.node ORDER BY webhook.node LIMIT 1)
        FROM claimant WHERE claimant.node IS NOT NULL
    )
    SELECT array_agg(node) FROM (
      SELECT '' COLLATE "C" AS node
      UNION SELECT node FROM holder WHERE node IS NOT NULL AND NOT ${schema}.is_living_1(node, now_ms)
      UNION SELECT node FROM claimant WHERE node IS NOT NULL AND NOT ${schema}.is_living_1(node, now_ms)
    ) AS free
  $$;

  CREATE FUNCTION ${schema}.due_1(agents text[], free text[], now_ms bigint) RETURNS TABLE (id text, n bigint) LANGUAGE sql STABLE AS $$
    SELECT id, n FROM ${schema}.task WHERE NOT ended AND active AND node = ANY (free) AND agent = ANY (agents)
    UNION
    SELECT id, n FROM ${schema}.task WHERE NOT ended AND wake_at IS NOT NULL AND wake_at <= now_ms AND node = ANY (free) AND agent = ANY (agents)
    UNION
    SELECT task.id, task.n FROM ${schema}.task WHERE NOT ended AND node = ANY (free) AND agent = ANY (agents)
      AND id IN (SELECT inbox.task FROM ${schema}.inbox)
  $$;

  -- Locks these tasks and returns those that it has locked.
  CREATE FUNCTION ${schema}.lock_tasks_1(ids text[]) RETURNS text[] LANGUAGE plpgsql AS $$
  DECLARE
    locked text[];
  BEGIN
    SELECT array_agg(id) INTO locked FROM (
      SELECT id FROM ${schema}.task WHERE id = ANY (ids) ORDER BY id FOR UPDATE SKIP LOCKED) AS free;
    IF locked IS NULL THEN
      SELECT array_agg(id) INTO locked FROM (SELECT id FROM ${schema}.task WHERE id = ANY (ids) ORDER BY id FOR UPDATE) AS waited;
    END IF;
    RETURN locked;
  END $$;

  CREATE FUNCTION ${schema}.claim_due_1(the_node text, agents text[], most bigint, clock bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    free text[];
    ids text[];
    claimed jsonb;
    next_wake bigint;
    living bigint;
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
    -- The tasks of a node that died are divided among the living ones.
    SELECT greatest(${SMALLEST_SHARE}, ceil(count(*)::numeric / living)) INTO share
      FROM (SELECT FROM ${schema}.due_1(agents, free, now_ms) LIMIT most * living) AS due;
    SELECT array_agg(id) INTO ids FROM (SELECT id FROM ${schema}.due_1(agents, free, now_ms) ORDER BY n LIMIT least(most, share)) AS oldest;
    IF ids IS NOT NULL THEN
      ids := ${schema}.lock_tasks_1(ids);
      -- Nobody changes the locked tasks any more: look at them again.
      free := ${schema}.free_nodes_1(now_ms);
      WITH former AS (
        SELECT task.id, task.node FROM ${schema}.task JOIN ${schema}.due_1(agents, free, now_ms) AS due ON due.id = task.id
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
    RETURN jsonb_build_object('tasks', coalesce(claimed, '[]'), 'nextWake', next_wake, 'waiting', waiting, 'nextLapse',
      (SELECT min(lease_until) FROM ${schema}.node WHERE id <> the_node AND lease_until > now_ms
        AND EXISTS (SELECT FROM ${schema}.task WHERE NOT ended AND task.node = node.id)));
  END $$;

  CREATE FUNCTION ${schema}.claim_webhooks_1(the_node text, agents text[], most bigint, clock bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    free text[];
    ids text[];
    claimed jsonb;
  BEGIN
    IF NOT ${schema}.is_living_1(the_node, now_ms) THEN
      RETURN '[]';
    END IF;
    free := ${schema}.free_nodes_1(now_ms);
    SELECT array_agg(DISTINCT task) INTO ids FROM (
      SELECT webhook.task FROM ${schema}.webhook JOIN ${schema}.task ON task.id = webhook.task
      WHERE webhook.state = 'active' AND webhook.node = ANY (free) AND task.agent = ANY (agents)
      ORDER BY webhook.next_at, webhook.n LIMIT most) AS earliest;
    IF ids IS NULL THEN
      RETURN '[]';
    END IF;
    ids := ${schema}.lock_tasks_1(ids);
    free := ${schema}.free_nodes_1(now_ms);
    WITH chosen AS (
      SELECT webhook.task, webhook.id FROM ${schema}.webhook
      WHERE webhook.state = 'active' AND webhook.node = ANY (free) AND webhook.task = ANY (ids)
      ORDER BY webhook.next_at, webhook.n LIMIT most
    ), changed AS (
      UPDATE ${schema}.webhook SET node = the_node, epoch = nextval('${schema}.webhook_epoch')
      FROM chosen WHERE webhook.task = chosen.task AND webhook.id = chosen.id
      RETURNING webhook.*
    )
    SELECT jsonb_agg(to_jsonb(changed) || jsonb_build_object('agent', task.agent, 'tenant', task.tenant, 'owner', task.owner)
        ORDER BY changed.next_at, changed.n)
      INTO claimed FROM changed JOIN ${schema}.task ON task.id = changed.task;
    RETURN coalesce(claimed, '[]');
  END $$;
  `;
}

/** `claim_due_2`: as `claim_due_1`, and says how many other nodes are living. */
export function claimDue2Function(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.claim_due_2(the_node text, agents text[], most bigint, clock bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  BEGIN
    RETURN ${schema}.claim_due_1(the_node, agents, most, clock) || jsonb_build_object('others',
      (SELECT count(*) FROM ${schema}.node WHERE id <> the_node AND lease_until > ${schema}.now_1(clock)));
  END $$;
  `;
}
