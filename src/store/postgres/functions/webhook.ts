/** `change_webhook_1(op, now)`: applies an operation on a webhook, under the lock of its task. */
export function webhookFunctions(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.set_webhook_1(op jsonb, found_row ${schema}.task) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    hook jsonb := op->'webhook';
    the_id text := hook->>'id';
    most bigint := (op->>'maxPerTask')::bigint;
    row_seq bigint := ${schema}.last_seq_1(found_row.id, found_row.seq);
    replaced text[];
    others bigint;
    is_new boolean;
    begins bigint;
  BEGIN
    SELECT coalesce(array_agg(id), '{}') INTO replaced FROM ${schema}.webhook
      WHERE task = found_row.id AND id <> the_id AND state <> 'removed' AND (op->>'only')::boolean AND dialect = hook->>'dialect';
    SELECT count(*) FILTER (WHERE id <> the_id AND state <> 'removed' AND id <> ALL (replaced)),
        count(*) FILTER (WHERE id = the_id AND state <> 'removed') = 0,
        min(cursor) FILTER (WHERE (id = the_id OR id = ANY (replaced)) AND state IN ('active', 'suspended'))
      INTO others, is_new, begins FROM ${schema}.webhook WHERE task = found_row.id;
    IF is_new AND others >= most THEN
      RETURN '{"status":"full"}';
    END IF;
    DELETE FROM ${schema}.webhook WHERE task = found_row.id AND id = ANY (replaced);
    DELETE FROM ${schema}.webhook WHERE task = found_row.id AND id IN (
      SELECT id FROM ${schema}.webhook WHERE task = found_row.id AND id <> the_id AND state = 'removed' ORDER BY n DESC OFFSET greatest(most, 0));
    -- Pending events must be delivered to the new target.
    begins := coalesce(begins, CASE WHEN found_row.ended THEN row_seq - 1 ELSE row_seq END);
    INSERT INTO ${schema}.webhook (task, id, state, cursor, attempts, next_at, at, unnamed, dialect, body)
      VALUES (found_row.id, the_id, 'active', begins, 0, (hook->>'at')::bigint, (hook->>'at')::bigint, (hook->>'unnamed')::boolean,
        hook->>'dialect', hook->>'body')
      ON CONFLICT (task, id) DO UPDATE SET state = 'active', cursor = excluded.cursor, attempts = 0, next_at = excluded.next_at,
        epoch = excluded.epoch, node = '', at = excluded.at, unnamed = excluded.unnamed, failed_at = NULL, failure = NULL,
        dialect = excluded.dialect, body = excluded.body;
    RETURN '{"status":"ok"}';
  END $$;

  CREATE FUNCTION ${schema}.advance_webhook_1(op jsonb, found_row ${schema}.task) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    next_state text := op->>'state';
    is_refused boolean;
  BEGIN
    is_refused := next_state = 'idle'
      AND (NOT found_row.ended OR (op->>'cursor')::bigint < ${schema}.last_seq_1(found_row.id, found_row.seq));
    IF is_refused THEN
      next_state := 'active';
    END IF;
    UPDATE ${schema}.webhook SET
        state = next_state,
        cursor = (op->>'cursor')::bigint,
        attempts = (op->>'attempts')::integer,
        next_at = (op->>'nextAt')::bigint,
        failure = op->>'failure',
        failed_at = coalesce((op->>'failedAt')::bigint, CASE WHEN op->>'state' IN ('suspended', 'removed') THEN (op->>'nextAt')::bigint END),
        node = CASE WHEN next_state = 'active' THEN node ELSE '' END
      WHERE task = found_row.id AND id = op->>'id' AND state = 'active' AND epoch = (op->>'epoch')::bigint;
    IF NOT FOUND THEN
      RETURN '{"status":"fenced"}';
    END IF;
    IF op ? 'journal' THEN
      PERFORM ${schema}.add_journal_1(found_row.id, op->'journal');
    END IF;
    RETURN CASE WHEN is_refused THEN '{"status":"inbox"}'::jsonb ELSE '{"status":"ok"}'::jsonb END;
  END $$;

  CREATE FUNCTION ${schema}.change_webhook_1(op jsonb, now_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    found_row ${schema}.task;
    hook ${schema}.webhook;
  BEGIN
    SELECT * INTO found_row FROM ${schema}.task WHERE id = op->>'task' FOR UPDATE;
    IF NOT FOUND THEN
      RETURN '{"status":"not-found"}';
    END IF;
    IF op->>'kind' = 'webhook-set' THEN
      RETURN CASE WHEN found_row.scope = (op->>'scope')::uuid THEN ${schema}.set_webhook_1(op, found_row)
        ELSE '{"status":"not-found"}'::jsonb END;
    END IF;
    SELECT * INTO hook FROM ${schema}.webhook WHERE task = found_row.id AND id = op->>'id';
    IF NOT FOUND THEN
      RETURN '{"status":"not-found"}';
    END IF;
    CASE op->>'kind'
      WHEN 'webhook-delete' THEN
        DELETE FROM ${schema}.webhook WHERE task = hook.task AND id = hook.id;
      WHEN 'webhook-claim' THEN
        IF hook.state <> 'active' THEN
          RETURN '{"status":"not-found"}';
        ELSIF hook.node <> '' AND ${schema}.is_living_1(hook.node, now_ms) THEN
          RETURN jsonb_build_object('status', 'held', 'node', hook.node);
        END IF;
        UPDATE ${schema}.webhook SET node = op->>'node', epoch = nextval('${schema}.webhook_epoch')
          WHERE task = hook.task AND id = hook.id RETURNING epoch INTO hook.epoch;
        RETURN jsonb_build_object('status', 'ok', 'epoch', hook.epoch);
      WHEN 'webhook-advance' THEN
        RETURN ${schema}.advance_webhook_1(op, found_row);
      ELSE
        IF hook.state NOT IN ('suspended', 'removed') THEN
          RETURN '{"status":"not-found"}';
        END IF;
        UPDATE ${schema}.webhook SET state = 'active', attempts = 0, next_at = (op->>'at')::bigint, failure = NULL, failed_at = NULL,
            node = '', epoch = nextval('${schema}.webhook_epoch')
          WHERE task = hook.task AND id = hook.id;
    END CASE;
    RETURN '{"status":"ok"}';
  END $$;
  `;
}
