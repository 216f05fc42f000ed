/** `write_1(op, room, prune)`: applies a `TaskWrite`, under the lock of the task. Returns its outcome and the remaining `room`. */
export function writeFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.add_messages_1(the_task text, entries jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO ${schema}.message (task, n, after, inbox, body)
      SELECT the_task, begins.n + ordinality - 1, (value->>'after')::bigint, value->>'inbox', value->>'body'
      FROM (SELECT coalesce(max(message.n) + 1, 0) AS n FROM ${schema}.message WHERE message.task = the_task) AS begins,
        jsonb_array_elements(entries) WITH ORDINALITY
  $$;

  CREATE FUNCTION ${schema}.add_step_1(the_task text, the_key text, the_value text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO ${schema}.step (task, key, value) VALUES (the_task, the_key, the_value)
      ON CONFLICT (task, md5(key)) DO UPDATE SET value = excluded.value
  $$;

  CREATE FUNCTION ${schema}.add_journal_1(the_task text, records jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO ${schema}.journal (task, key, body) SELECT the_task, value->>'key', value->>'body' FROM jsonb_array_elements(records)
      ON CONFLICT (task, md5(key)) DO UPDATE SET body = excluded.body
  $$;

  -- The outcome of a create that is refused; null if the task was inserted. The inbox of a new task is empty, so its end is always applied.
  CREATE FUNCTION ${schema}.create_1(op jsonb, room bigint, prune bigint, OUT outcome jsonb, OUT room_left bigint) LANGUAGE plpgsql AS $$
  DECLARE
    made jsonb := op->'create';
    ends boolean := op ? 'end';
    head jsonb := coalesce(op->'end'->'head', op->'head');
    hook jsonb := made->'webhook';
    earlier text;
  BEGIN
    room_left := room;
    IF made ? 'since' THEN
      SELECT id INTO earlier FROM ${schema}.task
        WHERE message_id = made->>'message' AND scope = (made->>'scope')::uuid AND created_at >= (made->>'since')::numeric
        ORDER BY n DESC LIMIT 1;
      IF FOUND THEN
        outcome := jsonb_build_object('status', 'repeated', 'task', earlier);
        RETURN;
      END IF;
    END IF;
    PERFORM FROM ${schema}.task WHERE id = op->>'task';
    IF FOUND THEN
      outcome := '{"status":"duplicate"}';
      RETURN;
    END IF;
    IF head IS NULL OR (op->>'epoch')::bigint <> 1 OR coalesce((op->>'first')::bigint, 1) <> 1 OR NOT (op->>'contiguous')::boolean THEN
      outcome := '{"status":"fenced"}';
      RETURN;
    END IF;
    IF (made->>'oversized')::boolean THEN
      outcome := '{"status":"full"}';
      RETURN;
    END IF;
    IF room_left <= 0 THEN
      room_left := room_left + ${schema}.prune_1(prune);
      IF room_left <= 0 THEN
        outcome := '{"status":"full"}';
        RETURN;
      END IF;
    END IF;
    INSERT INTO ${schema}.task (id, scope, agent, tenant, owner, context, dialect, created_at, message_id, digest, parent, root,
        state, status_at, ended, active, wake_at, node, epoch, seq, first_seq, status, metadata, runner)
      VALUES (op->>'task', (made->>'scope')::uuid, made->>'agent', made->>'tenant', made->>'owner', made->>'context', made->>'dialect',
        (made->>'at')::bigint, made->>'message', made->>'digest', made->>'parent', made->>'root',
        head->>'state', (head->>'statusAt')::bigint, ends, (head->>'active')::boolean, (head->>'wakeAt')::bigint,
        CASE WHEN ends OR (op->>'release')::boolean THEN '' ELSE made->>'node' END, 1, (op->>'last')::bigint, 1,
        head->>'status', head->>'metadata', head->>'runner')
      ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      outcome := '{"status":"duplicate"}';
      RETURN;
    END IF;
    room_left := room_left - 1;
    IF hook IS NOT NULL THEN
      INSERT INTO ${schema}.webhook (task, id, state, cursor, attempts, next_at, at, unnamed, dialect, body)
        VALUES (op->>'task', hook->>'id', 'active', 0, 0, (hook->>'at')::bigint, (hook->>'at')::bigint, (hook->>'unnamed')::boolean,
          hook->>'dialect', hook->>'body');
    END IF;
  END $$;

  CREATE FUNCTION ${schema}.write_1(op jsonb, INOUT room bigint, prune bigint, OUT outcome jsonb) LANGUAGE plpgsql AS $$
  DECLARE
    the_task text := op->>'task';
    creates boolean := op ? 'create';
    ends boolean := op ? 'end';
    ending jsonb := op->'end';
    found_row ${schema}.task;
    row_seq bigint := 0;
    head jsonb;
    step jsonb;
  BEGIN
    IF creates THEN
      SELECT made.outcome, made.room_left INTO outcome, room FROM ${schema}.create_1(op, room, prune) AS made;
      IF outcome IS NOT NULL THEN
        RETURN;
      END IF;
    ELSE
      SELECT * INTO found_row FROM ${schema}.task WHERE id = the_task FOR UPDATE;
      IF NOT FOUND THEN
        outcome := '{"status":"not-found"}';
        RETURN;
      ELSIF found_row.ended THEN
        outcome := '{"status":"ended"}';
        RETURN;
      END IF;
      row_seq := ${schema}.last_seq_1(the_task, found_row.seq);
      IF found_row.node = '' OR found_row.epoch <> (op->>'epoch')::bigint OR NOT (op->>'contiguous')::boolean
          OR coalesce((op->>'first')::bigint, row_seq + 1) <> row_seq + 1 THEN
        outcome := '{"status":"fenced"}';
        RETURN;
      END IF;
    END IF;

    IF op ? 'entries' THEN
      INSERT INTO ${schema}.log (task, first, last, bytes, entries)
        VALUES (the_task, row_seq + 1, row_seq + (op->>'count')::bigint, (op->>'bytes')::integer, op->>'entries');
      row_seq := row_seq + (op->>'count')::bigint;
    END IF;
    IF op ? 'history' THEN
      PERFORM ${schema}.add_messages_1(the_task, op->'history');
    END IF;
    IF op ? 'taken' THEN
      DELETE FROM ${schema}.inbox WHERE task = the_task AND id IN (SELECT jsonb_array_elements_text(op->'taken'));
    END IF;
    IF (op->>'forgetSteps')::boolean THEN
      DELETE FROM ${schema}.step WHERE task = the_task;
    END IF;
    IF op ? 'journal' THEN
      PERFORM ${schema}.add_journal_1(the_task, op->'journal');
    END IF;
    IF ends AND (ending->>'unlessInbox')::boolean AND NOT creates THEN
      PERFORM FROM ${schema}.inbox WHERE task = the_task AND kind = 'message';
      ends := NOT FOUND;
    END IF;
    IF op ? 'steps' AND NOT ends THEN
      FOR step IN SELECT value FROM jsonb_array_elements(op->'steps') LOOP
        PERFORM ${schema}.add_step_1(the_task, step->>'key', step->>'value');
      END LOOP;
    END IF;

    IF ends THEN
      IF NOT creates THEN
        INSERT INTO ${schema}.message (task, n, after, inbox, body)
          SELECT the_task, begins.n + row_number() OVER (ORDER BY inbox.n) - 1, row_seq, inbox.id, inbox.body
          FROM (SELECT coalesce(max(message.n) + 1, 0) AS n FROM ${schema}.message WHERE message.task = the_task) AS begins, ${schema}.inbox
          WHERE inbox.task = the_task AND inbox.kind = 'message' AND NOT inbox.sealed;
        DELETE FROM ${schema}.inbox WHERE task = the_task;
        DELETE FROM ${schema}.step WHERE task = the_task;
      END IF;
      IF ending ? 'history' THEN
        PERFORM ${schema}.add_messages_1(the_task, ending->'history');
      END IF;
      row_seq := row_seq + 1;
      INSERT INTO ${schema}.log (task, first, last, bytes, entries)
        VALUES (the_task, row_seq, row_seq, (ending->>'bytes')::integer, ending->>'entries');
      IF ending ? 'artifacts' THEN
        INSERT INTO ${schema}.artifacts (task, body) VALUES (the_task, ending->>'artifacts');
      END IF;
    END IF;

    head := CASE WHEN ends THEN ending->'head' ELSE op->'head' END;
    IF NOT creates AND (head IS NOT NULL OR (op->>'release')::boolean) THEN
      UPDATE ${schema}.task SET
          seq = row_seq,
          ended = ends,
          node = CASE WHEN ends OR (op->>'release')::boolean THEN '' ELSE node END,
          state = coalesce(head->>'state', state),
          status = coalesce(head->>'status', status),
          status_at = coalesce((head->>'statusAt')::bigint, status_at),
          metadata = CASE WHEN head IS NULL THEN metadata ELSE head->>'metadata' END,
          runner = coalesce(head->>'runner', runner),
          active = coalesce((head->>'active')::boolean, active),
          wake_at = CASE WHEN head IS NULL THEN wake_at ELSE (head->>'wakeAt')::bigint END
        WHERE id = the_task;
    END IF;
    outcome := CASE WHEN ends OR ending IS NULL THEN '{"status":"ok"}'::jsonb ELSE '{"status":"inbox"}'::jsonb END;
  END $$;
  `;
}
