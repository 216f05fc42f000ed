/**
 * `prune_1`: deletes the oldest finished tasks to make room. `sweep_1`: applies the retention to one batch of tasks. `health_1`: a real write.
 *
 * Deletions never wait for locks, so they cannot block commits: a task that is locked, or whose context is, is deleted the next time.
 */
export function retentionFunctions(schema: string): string {
  return `
  -- Deletes these tasks. The caller has locked them. Tasks whose context is locked are left.
  CREATE FUNCTION ${schema}.delete_tasks_1(ids text[]) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    kept text[] := '{}';
    shared record;
    deleted bigint;
  BEGIN
    FOR shared IN
      SELECT task.scope, task.context, array_agg(task.id) AS tasks
      FROM ${schema}.task JOIN ${schema}.context ON context.scope = task.scope AND context.context = task.context
      WHERE task.id = ANY (ids) GROUP BY task.scope, task.context
    LOOP
      IF NOT pg_try_advisory_xact_lock(${schema}.context_lock_1(shared.scope, shared.context)) THEN
        kept := kept || shared.tasks;
        CONTINUE;
      END IF;
      PERFORM FROM ${schema}.task WHERE task.scope = shared.scope AND task.context = shared.context AND id <> ALL (shared.tasks);
      IF NOT FOUND THEN
        DELETE FROM ${schema}.context_value WHERE context_value.scope = shared.scope AND context_value.context = shared.context;
        DELETE FROM ${schema}.context WHERE context.scope = shared.scope AND context.context = shared.context;
      END IF;
    END LOOP;
    ids := ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(kept));
    DELETE FROM ${schema}.log WHERE task = ANY (ids);
    DELETE FROM ${schema}.artifacts WHERE task = ANY (ids);
    DELETE FROM ${schema}.message WHERE task = ANY (ids);
    DELETE FROM ${schema}.journal WHERE task = ANY (ids);
    DELETE FROM ${schema}.webhook WHERE task = ANY (ids);
    DELETE FROM ${schema}.task WHERE id = ANY (ids);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
  END $$;

  -- Finished tasks that may be deleted, oldest first, locked.
  CREATE FUNCTION ${schema}.lock_finished_1(before bigint, most bigint) RETURNS text[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(id), '{}') FROM (
      SELECT id FROM ${schema}.task
      WHERE ended AND status_at < before
        AND NOT EXISTS (SELECT FROM ${schema}.webhook WHERE webhook.task = task.id AND webhook.state = 'active')
      ORDER BY status_at, id LIMIT most FOR UPDATE SKIP LOCKED) AS oldest
  $$;

  CREATE FUNCTION ${schema}.prune_1(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    RETURN ${schema}.delete_tasks_1(${schema}.lock_finished_1(9223372036854775807, most));
  END $$;

  -- Finished tasks whose log is to be dropped and that have no stored artifacts: the caller computes them and calls drop_logs_1.
  CREATE FUNCTION ${schema}.sweep_1(max_age bigint, excess bigint, most bigint, clock bigint) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    changed bigint := 0;
  BEGIN
    -- Writers and nodes of processes that ended more than a day ago.
    DELETE FROM ${schema}.writer WHERE at < now_ms - 86400000;
    DELETE FROM ${schema}.node WHERE lease_until < now_ms - 86400000;
    IF excess > 0 THEN
      changed := ${schema}.prune_1(least(excess, most));
    END IF;
    IF max_age IS NOT NULL AND changed < most THEN
      changed := changed + ${schema}.delete_tasks_1(${schema}.lock_finished_1(now_ms - max_age, most - changed));
    END IF;
    RETURN changed;
  END $$;

  CREATE FUNCTION ${schema}.drop_logs_1(ids text[], folded text[]) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    locked text[];
  BEGIN
    SELECT coalesce(array_agg(id), '{}') INTO locked FROM (
      SELECT id FROM ${schema}.task WHERE id = ANY (ids) AND ended AND first_seq <= seq
        AND NOT EXISTS (SELECT FROM ${schema}.webhook WHERE webhook.task = task.id AND webhook.state = 'active')
      FOR UPDATE SKIP LOCKED) AS free;
    INSERT INTO ${schema}.artifacts (task, body)
      SELECT given.id, given.body FROM unnest(ids, folded) AS given (id, body) WHERE given.body IS NOT NULL AND given.id = ANY (locked)
      ON CONFLICT (task) DO NOTHING;
    UPDATE ${schema}.task SET first_seq = seq + 1 WHERE id = ANY (locked);
    DELETE FROM ${schema}.log WHERE task = ANY (locked);
    DELETE FROM ${schema}.journal WHERE task = ANY (locked);
    RETURN coalesce(array_length(locked, 1), 0);
  END $$;

  CREATE FUNCTION ${schema}.health_1(body text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO ${schema}.probe VALUES (body);
    DELETE FROM ${schema}.probe;
  END $$;
  `;
}
