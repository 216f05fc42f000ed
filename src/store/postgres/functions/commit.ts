/**
 * `commit_1(operations, writer, number, clock, room, prune)`: applies all operations of a commit and returns
 * `{ outcomes, room, late }` in one call, so that a commit is one round trip.
 *
 * Locks, in the same order in every commit, so that commits of several nodes do not block each other for ever: the row of the writer; advisory
 * locks for idempotent messages and contexts, by number; rows of tasks, by id. Each statement of the function sees everything that was committed
 * before it, so a condition that is read under the lock of the task is current.
 *
 * `room`: how many tasks may be created before finished ones must be deleted, `prune` at a time. Null: any number.
 */
export function commitFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.now_1(clock bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(clock, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
  $$;

  CREATE FUNCTION ${schema}.is_living_1(the_node text, now_ms bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM ${schema}.node WHERE id = the_node AND lease_until > now_ms)
  $$;

  -- The end of a task's log: the row of the task has it, unless later commits only appended to the log.
  CREATE FUNCTION ${schema}.last_seq_1(the_task text, stored bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(stored, (SELECT last FROM ${schema}.log WHERE task = the_task ORDER BY first DESC LIMIT 1))
  $$;

  CREATE FUNCTION ${schema}.context_lock_1(the_scope uuid, the_context text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT hashtextextended('context ' || the_scope::text || the_context, 0)
  $$;

  CREATE FUNCTION ${schema}.lock_keys_1(operations jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    lock_key bigint;
  BEGIN
    FOR lock_key IN
      WITH operation AS (SELECT value AS op FROM jsonb_array_elements(operations))
      SELECT key FROM (
        SELECT hashtextextended('message ' || (op->'create'->>'scope') || (op->'create'->>'message'), 0) AS key
          FROM operation WHERE op->'create' ? 'since'
        UNION
        SELECT ${schema}.context_lock_1(task.scope, task.context)
          FROM operation JOIN ${schema}.task ON task.id = op->>'task' WHERE op->>'kind' = 'context-write'
        UNION
        SELECT ${schema}.context_lock_1((made.op->'create'->>'scope')::uuid, made.op->'create'->>'context')
          FROM operation JOIN operation AS made ON made.op->>'task' = operation.op->>'task' AND made.op ? 'create'
          WHERE operation.op->>'kind' = 'context-write'
      ) AS found ORDER BY key
    LOOP
      PERFORM pg_advisory_xact_lock(lock_key);
    END LOOP;
  END $$;

  CREATE FUNCTION ${schema}.commit_1(
    operations jsonb, writer_name text, writer_n bigint, has_keys boolean, clock bigint, room bigint, prune bigint
  ) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    last_commit ${schema}.writer;
    item record;
    outcome jsonb;
    results jsonb[] := array_fill(NULL::jsonb, ARRAY[jsonb_array_length(operations)]);
  BEGIN
    IF writer_name IS NOT NULL THEN
      SELECT * INTO last_commit FROM ${schema}.writer WHERE name = writer_name FOR UPDATE;
      IF NOT FOUND THEN
        INSERT INTO ${schema}.writer (name, n, outcomes, at) VALUES (writer_name, writer_n - 1, '[]', now_ms) ON CONFLICT DO NOTHING;
        SELECT * INTO last_commit FROM ${schema}.writer WHERE name = writer_name FOR UPDATE;
      END IF;
      IF last_commit.n = writer_n THEN
        RETURN jsonb_build_object('outcomes', last_commit.outcomes, 'room', room);
      ELSIF last_commit.n > writer_n THEN
        RETURN jsonb_build_object('late', last_commit.n);
      END IF;
    END IF;
    IF has_keys THEN
      PERFORM ${schema}.lock_keys_1(operations);
    END IF;
    FOR item IN
      SELECT ordinality AS index, value AS op FROM jsonb_array_elements(operations) WITH ORDINALITY
      ORDER BY value->>'task' COLLATE "C", ordinality
    LOOP
      CASE item.op->>'kind'
        WHEN 'write' THEN
          SELECT written.outcome, written.room INTO outcome, room FROM ${schema}.write_1(item.op, room, prune) AS written;
        WHEN 'post' THEN outcome := ${schema}.post_1(item.op);
        WHEN 'claim' THEN outcome := ${schema}.claim_1(item.op, now_ms);
        WHEN 'context-write' THEN outcome := ${schema}.write_context_1(item.op);
        ELSE outcome := ${schema}.change_webhook_1(item.op, now_ms);
      END CASE;
      results[item.index::integer] := outcome;
    END LOOP;
    outcome := to_jsonb(results);
    IF writer_name IS NOT NULL THEN
      UPDATE ${schema}.writer SET n = writer_n, outcomes = outcome, at = now_ms WHERE name = writer_name;
    END IF;
    RETURN jsonb_build_object('outcomes', outcome, 'room', room);
  END $$;
  `;
}
