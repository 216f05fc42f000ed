/** `post_1`, `claim_1` and `write_context_1`: apply an `InboxPost`, a `LeaseClaim` and a `ContextWrite`, under the lock of the task. */
export function taskFunctions(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.post_1(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    the_task text := op->>'task';
    prefix text := op->>'uniquePrefix';
    expected bigint := (op->>'expectedSeq')::bigint;
    found_row ${schema}.task;
    row_seq bigint;
    waiting bigint;
    is_same boolean;
  BEGIN
    SELECT * INTO found_row FROM ${schema}.task WHERE id = the_task FOR UPDATE;
    IF NOT FOUND THEN
      RETURN '{"status":"not-found"}';
    END IF;
    row_seq := ${schema}.last_seq_1(the_task, found_row.seq);
    IF found_row.ended THEN
      RETURN CASE WHEN coalesce(expected, row_seq) = row_seq THEN '{"status":"ended"}'::jsonb
        ELSE jsonb_build_object('status', 'changed', 'seq', row_seq) END;
    END IF;
    IF prefix IS NOT NULL THEN
      PERFORM FROM ${schema}.message WHERE task = the_task AND (inbox = op->>'id' OR starts_with(inbox, prefix));
      IF FOUND THEN
        RETURN '{"status":"duplicate"}';
      END IF;
    END IF;
    SELECT count(*) FILTER (WHERE kind = 'message'), coalesce(bool_or(id = op->>'id' OR coalesce(starts_with(id, prefix), false)), false)
      INTO waiting, is_same FROM ${schema}.inbox WHERE task = the_task;
    IF is_same THEN
      RETURN '{"status":"duplicate"}';
    END IF;
    IF expected IS NOT NULL THEN
      PERFORM FROM ${schema}.message WHERE task = the_task AND inbox IS NOT NULL AND after >= expected;
      IF FOUND OR row_seq <> expected OR waiting > 0 THEN
        RETURN jsonb_build_object('status', 'changed', 'seq', row_seq);
      END IF;
    END IF;
    IF op->>'entry' = 'message' AND waiting >= (op->>'maxWaiting')::numeric THEN
      RETURN '{"status":"full"}';
    END IF;
    INSERT INTO ${schema}.inbox (task, id, kind, sealed, at, body)
      VALUES (the_task, op->>'id', op->>'entry', (op->>'sealed')::boolean, (op->>'at')::bigint, op->>'body');
    RETURN CASE WHEN found_row.node = '' THEN '{"status":"ok"}'::jsonb
      ELSE jsonb_build_object('status', 'ok', 'node', found_row.node) END;
  END $$;

  CREATE FUNCTION ${schema}.claim_1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    found_row ${schema}.task;
  BEGIN
    SELECT * INTO found_row FROM ${schema}.task WHERE id = op->>'task' FOR UPDATE;
    IF NOT FOUND THEN
      RETURN '{"status":"not-found"}';
    ELSIF found_row.ended THEN
      RETURN '{"status":"ended"}';
    ELSIF NOT (op->>'force')::boolean AND found_row.node <> '' AND ${schema}.is_living_1(found_row.node, now_ms) THEN
      RETURN jsonb_build_object('status', 'held', 'node', found_row.node);
    END IF;
    UPDATE ${schema}.task SET node = op->>'node', epoch = epoch + 1 WHERE id = found_row.id;
    RETURN jsonb_build_object('status', 'ok', 'epoch', found_row.epoch + 1);
  END $$;

  CREATE FUNCTION ${schema}.write_context_1(op jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    the_key text := op->>'key';
    the_value text := op->>'value';
    found_row ${schema}.task;
    present bigint;
    others numeric;
    next_version bigint;
  BEGIN
    SELECT * INTO found_row FROM ${schema}.task WHERE id = op->>'task' FOR UPDATE;
    IF NOT FOUND THEN
      RETURN '{"status":"not-found"}';
    ELSIF found_row.ended THEN
      RETURN '{"status":"ended"}';
    ELSIF found_row.node = '' OR found_row.epoch <> (op->>'epoch')::bigint THEN
      RETURN '{"status":"fenced"}';
    END IF;
    -- commit_1 has locked the context.
    SELECT coalesce(max(version) FILTER (WHERE key = the_key), 0),
        coalesce(sum(octet_length(key) + octet_length(value)) FILTER (WHERE key <> the_key), 0)
      INTO present, others
      FROM ${schema}.context_value WHERE scope = found_row.scope AND context = found_row.context;
    IF op ? 'expected' AND (op->>'expected')::bigint <> present THEN
      RETURN '{"status":"conflict"}';
    ELSIF the_value IS NOT NULL AND others + octet_length(the_key) + octet_length(the_value) > (op->>'maxBytes')::numeric THEN
      RETURN '{"status":"full"}';
    END IF;
    INSERT INTO ${schema}.context (scope, context, changes) VALUES (found_row.scope, found_row.context, 1)
      ON CONFLICT (scope, context) DO UPDATE SET changes = context.changes + 1
      RETURNING changes INTO next_version;
    IF the_value IS NULL THEN
      DELETE FROM ${schema}.context_value
        WHERE scope = found_row.scope AND context = found_row.context AND md5(key) = md5(the_key);
    ELSE
      INSERT INTO ${schema}.context_value (scope, context, key, version, value)
        VALUES (found_row.scope, found_row.context, the_key, next_version, the_value)
        ON CONFLICT (scope, context, md5(key)) DO UPDATE SET version = excluded.version, value = excluded.value;
    END IF;
    IF op ? 'step' THEN
      PERFORM ${schema}.add_step_1(found_row.id, op->'step'->>'key', op->'step'->>'value');
    END IF;
    RETURN jsonb_build_object('status', 'ok', 'version', next_version);
  END $$;
  `;
}
