-- The journal: what each change was and how the rows were before it, so that all of it can be taken back and brought again.

-- A change is one transaction. Its rows stand in `journal_rows` from `first` to `last`; `last` is empty while it is being made. One that was
-- taken back is `undone`, and its rows are then those that bring it again. `upto` counts the bytes of all changes so far.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    round INTEGER NOT NULL DEFAULT 0,
    timestamp TEXT NOT NULL DEFAULT '',
    first INTEGER NOT NULL DEFAULT 0,
    last INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0,
    upto INTEGER NOT NULL DEFAULT 0,
    undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1))
) STRICT;

CREATE INDEX journal_undone ON journal (seq) WHERE undone = 1;

-- What it takes to have a row as it was: '+' a row came and goes again, '-' one went and comes again as its image, '~' one was changed and
-- its image holds what was changed. `key` is its number, or the columns of its key as JSON. REAL values stand in images as text of
-- their own, for JSON would round them.
CREATE TABLE journal_rows (
    seq INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    op TEXT NOT NULL CHECK (op IN ('+', '-', '~')),
    key ANY,
    image TEXT
) STRICT;

-- Open within a transaction only: a row here refers to one that cannot be, and so no commit succeeds while it stands. 'undo': rows go back
-- to what they were, which guards would refuse and other triggers would do twice. 'derived': what is written follows from other rows.
CREATE TABLE journal_gate (
    way TEXT PRIMARY KEY CHECK (way IN ('undo', 'derived')),
    shut TEXT NOT NULL DEFAULT 'shut' REFERENCES journal_gate (way) DEFERRABLE INITIALLY DEFERRED CHECK (shut = 'shut')
) STRICT, WITHOUT ROWID;

-- Guards, and triggers that write rows which the journal holds too, rest while the gate is open.

DROP TRIGGER buffer_entries_guard_update;
DROP TRIGGER ledger_versions_keep;
DROP TRIGGER buffer_archive_guard_insert;
DROP TRIGGER buffer_archive_guard_update;
DROP TRIGGER buffer_archive_guard_delete;
DROP TRIGGER buffer_entries_guard_delete;
DROP TRIGGER buffer_entries_guard_insert;
DROP TRIGGER restorations_buffer;
DROP TRIGGER ledger_entries_guard_delete;
DROP TRIGGER ledger_entries_guard_insert;
DROP TRIGGER ledger_entries_guard_update;
DROP TRIGGER ledger_archive_guard_insert;
DROP TRIGGER ledger_archive_guard_update;
DROP TRIGGER ledger_archive_guard_delete;
DROP TRIGGER restorations_ledger;
DROP TRIGGER objects_move;
DROP TRIGGER audit_stays;
DROP TRIGGER audit_kept;
DROP TRIGGER turns_kept;

CREATE TRIGGER buffer_entries_guard_update BEFORE UPDATE OF seq, id, owner_id ON buffer_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT raise(ABORT, 'a buffer entry keeps its number, id and owner');
END;

CREATE TRIGGER ledger_versions_keep AFTER UPDATE OF version ON ledger_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.version <> old.version
BEGIN
    INSERT INTO ledger_versions (entry_id, version, timestamp, ended, location_id, involved_json, content, quotes_json, importance,
        mode, run_id, plain, origin, replaced_round)
    VALUES (old.id, old.version, old.timestamp, old.ended, old.location_id, old.involved_json, old.content, old.quotes_json,
        old.importance, old.mode, old.run_id, old.plain, old.origin,
        (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'));
END;

CREATE TRIGGER buffer_archive_guard_insert BEFORE INSERT ON buffer_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.ledger_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_entries WHERE id = new.ledger_id)
BEGIN
    SELECT raise(ABORT, 'an event can only be promoted to a memory that is there');
END;

CREATE TRIGGER buffer_archive_guard_update BEFORE UPDATE ON buffer_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT raise(ABORT, 'the archive is never rewritten');
END;

CREATE TRIGGER buffer_archive_guard_delete BEFORE DELETE ON buffer_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND NOT EXISTS (
    SELECT 1 FROM restorations AS back JOIN buffer_entries AS kept ON kept.id = back.id
    WHERE back.kind = 'buffer' AND back.id = old.id AND back.done = 0
        AND kept.seq = old.seq AND kept.owner_id = old.owner_id AND kept.timestamp = old.timestamp
        AND kept.location_id IS old.location_id AND kept.round = old.round AND kept.intent_json = old.intent_json
        AND kept.outcome_json IS old.outcome_json AND kept.grasp = old.grasp
)
BEGIN
    SELECT raise(ABORT, 'the archive is never emptied');
END;

CREATE TRIGGER buffer_entries_guard_delete BEFORE DELETE ON buffer_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND NOT EXISTS (
    SELECT 1 FROM buffer_archive AS kept
    WHERE kept.seq = old.seq AND kept.id = old.id AND kept.owner_id = old.owner_id AND kept.timestamp = old.timestamp
        AND kept.location_id IS old.location_id AND kept.round = old.round AND kept.intent_json = old.intent_json
        AND kept.outcome_json IS old.outcome_json AND kept.grasp = old.grasp
)
BEGIN
    SELECT raise(ABORT, 'a buffer entry may only go when the archive holds it');
END;

CREATE TRIGGER buffer_entries_guard_insert BEFORE INSERT ON buffer_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND EXISTS (SELECT 1 FROM buffer_archive WHERE seq = new.seq OR id = new.id)
    AND NOT EXISTS (SELECT 1 FROM restorations WHERE kind = 'buffer' AND id = new.id AND done = 0)
BEGIN
    SELECT raise(ABORT, 'an archived buffer entry may not be written again');
END;

CREATE TRIGGER restorations_buffer AFTER INSERT ON restorations
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.kind = 'buffer'
BEGIN
    SELECT raise(ABORT, 'only an archived event can be restored')
    WHERE NOT EXISTS (SELECT 1 FROM buffer_archive WHERE id = new.id);
    INSERT INTO buffer_entries (seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned)
    SELECT seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, new.pinned
    FROM buffer_archive WHERE id = new.id;
    DELETE FROM buffer_archive WHERE id = new.id;
    UPDATE restorations SET done = 1 WHERE seq = new.seq;
END;

CREATE TRIGGER ledger_entries_guard_delete BEFORE DELETE ON ledger_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND NOT EXISTS (
    SELECT 1 FROM ledger_archive AS kept
    WHERE kept.seq = old.seq AND kept.id = old.id AND kept.owner_id = old.owner_id AND kept.timestamp = old.timestamp
        AND kept.ended = old.ended AND kept.location_id IS old.location_id AND kept.involved_json = old.involved_json
        AND kept.content = old.content AND kept.quotes_json = old.quotes_json AND kept.importance = old.importance
        AND kept.mode = old.mode AND kept.version = old.version
)
BEGIN
    SELECT raise(ABORT, 'a memory may only go when the archive holds it');
END;

CREATE TRIGGER ledger_entries_guard_insert BEFORE INSERT ON ledger_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND EXISTS (SELECT 1 FROM ledger_archive WHERE seq = new.seq OR id = new.id)
    AND NOT EXISTS (SELECT 1 FROM restorations WHERE kind = 'ledger' AND id = new.id AND done = 0)
BEGIN
    SELECT raise(ABORT, 'an archived memory may not be written again');
END;

CREATE TRIGGER ledger_entries_guard_update BEFORE UPDATE OF seq, id, owner_id ON ledger_entries
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT raise(ABORT, 'a memory keeps its number, id and owner');
END;

CREATE TRIGGER ledger_archive_guard_insert BEFORE INSERT ON ledger_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.into_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_entries WHERE id = new.into_id AND owner_id = new.owner_id)
BEGIN
    SELECT raise(ABORT, 'a memory can only go into one that is there');
END;

CREATE TRIGGER ledger_archive_guard_update BEFORE UPDATE ON ledger_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT raise(ABORT, 'the archive is never rewritten');
END;

CREATE TRIGGER ledger_archive_guard_delete BEFORE DELETE ON ledger_archive
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND NOT EXISTS (
    SELECT 1 FROM restorations AS back JOIN ledger_entries AS kept ON kept.id = back.id
    WHERE back.kind = 'ledger' AND back.id = old.id AND back.done = 0 AND kept.seq = old.seq AND kept.content = old.content
)
BEGIN
    SELECT raise(ABORT, 'the archive is never emptied');
END;

CREATE TRIGGER restorations_ledger AFTER INSERT ON restorations
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.kind = 'ledger'
BEGIN
    SELECT raise(ABORT, 'only an archived memory can be restored')
    WHERE NOT EXISTS (SELECT 1 FROM ledger_archive WHERE id = new.id);
    INSERT INTO ledger_entries (seq, id, owner_id, timestamp, ended, location_id, involved_json, content, quotes_json, importance,
        mode, run_id, version, plain, origin, created_round)
    SELECT seq, id, owner_id, timestamp, ended, location_id, involved_json, content, quotes_json, importance, mode, run_id, version,
        plain, 'hand', created_round
    FROM ledger_archive WHERE id = new.id;
    INSERT INTO ledger_sources (buffer_id, ledger_id, round)
    SELECT source.value, gone.id, since.value
    FROM ledger_archive AS gone, json_each(gone.sources_json) AS source
    JOIN json_each(gone.source_rounds_json) AS since ON since.key = source.key
    WHERE gone.id = new.id;
    DELETE FROM ledger_archive WHERE id = new.id;
    UPDATE restorations SET done = 1 WHERE seq = new.seq;
END;

CREATE TRIGGER objects_move AFTER UPDATE OF place_id ON objects
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND new.place_id IS NOT old.place_id
BEGIN
    INSERT INTO moves (round, entity_id, from_place, to_place)
    VALUES ((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), new.id, old.place_id, new.place_id);
END;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT RAISE(ABORT, 'audit rows are never changed');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
BEGIN
    SELECT RAISE(ABORT, 'audit rows are never removed');
END;

CREATE TRIGGER turns_kept BEFORE DELETE ON session_turns
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'undo')
    AND NOT EXISTS (SELECT 1 FROM session_summaries WHERE session_id = old.session_id AND status <> 'failed')
    AND (SELECT status FROM sessions WHERE id = old.session_id) <> 'discarded'
BEGIN
    SELECT RAISE(ABORT, 'a turn leaves with a summary only');
END;

-- What records. Written from the tables by `tests/engine/storage/journal_text.py`, and tested against them.

CREATE TRIGGER journal_alias_changes_insert AFTER INSERT ON alias_changes
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('alias_changes', '+', new.seq);
END;

CREATE TRIGGER journal_alias_changes_delete AFTER DELETE ON alias_changes
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('alias_changes', '-', json_object(
        'seq', old.seq, 'viewer_id', old.viewer_id, 'target_id', old.target_id, 'old', old.old, 'new', old.new,
        'timestamp', old.timestamp, 'round', old.round, 'cause', old.cause, 'evidence', old.evidence
    ));
END;

CREATE TRIGGER journal_alias_changes_update AFTER UPDATE ON alias_changes WHEN
    old.seq IS NOT new.seq OR old.viewer_id IS NOT new.viewer_id OR old.target_id IS NOT new.target_id OR old.old IS NOT new.old
    OR old.new IS NOT new.new OR old.timestamp IS NOT new.timestamp OR old.round IS NOT new.round OR old.cause IS NOT new.cause
    OR old.evidence IS NOT new.evidence
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('alias_changes', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.viewer_id IS NOT new.viewer_id THEN ',"viewer_id":' || json_quote(old.viewer_id) ELSE '' END
        || CASE WHEN old.target_id IS NOT new.target_id THEN ',"target_id":' || json_quote(old.target_id) ELSE '' END
        || CASE WHEN old.old IS NOT new.old THEN ',"old":' || json_quote(old.old) ELSE '' END
        || CASE WHEN old.new IS NOT new.new THEN ',"new":' || json_quote(old.new) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.cause IS NOT new.cause THEN ',"cause":' || json_quote(old.cause) ELSE '' END
        || CASE WHEN old.evidence IS NOT new.evidence THEN ',"evidence":' || json_quote(old.evidence) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_audit_insert AFTER INSERT ON audit
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('audit', '+', new.seq);
END;

CREATE TRIGGER journal_audit_delete AFTER DELETE ON audit
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('audit', '-', json_object(
        'seq', old.seq, 'round', old.round, 'timestamp', old.timestamp, 'action', old.action, 'cause', old.cause,
        'owner_id', old.owner_id, 'knowledge_id', old.knowledge_id, 'session_id', old.session_id, 'run_id', old.run_id,
        'before', old.before, 'after', old.after, 'why', old.why
    ));
END;

CREATE TRIGGER journal_audit_update AFTER UPDATE ON audit WHEN
    old.seq IS NOT new.seq OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp OR old.action IS NOT new.action
    OR old.cause IS NOT new.cause OR old.owner_id IS NOT new.owner_id OR old.knowledge_id IS NOT new.knowledge_id
    OR old.session_id IS NOT new.session_id OR old.run_id IS NOT new.run_id OR old.before IS NOT new.before
    OR old.after IS NOT new.after OR old.why IS NOT new.why
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('audit', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.action IS NOT new.action THEN ',"action":' || json_quote(old.action) ELSE '' END
        || CASE WHEN old.cause IS NOT new.cause THEN ',"cause":' || json_quote(old.cause) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.knowledge_id IS NOT new.knowledge_id THEN ',"knowledge_id":' || json_quote(old.knowledge_id) ELSE '' END
        || CASE WHEN old.session_id IS NOT new.session_id THEN ',"session_id":' || json_quote(old.session_id) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.before IS NOT new.before THEN ',"before":' || json_quote(old.before) ELSE '' END
        || CASE WHEN old.after IS NOT new.after THEN ',"after":' || json_quote(old.after) ELSE '' END
        || CASE WHEN old.why IS NOT new.why THEN ',"why":' || json_quote(old.why) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_beats_insert AFTER INSERT ON beats
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('beats', '+', new.seq);
END;

CREATE TRIGGER journal_beats_delete AFTER DELETE ON beats
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('beats', '-', json_object(
        'seq', old.seq, 'round', old.round, 'entity_id', old.entity_id, 'timestamp', old.timestamp, 'prose', old.prose,
        'template', old.template
    ));
END;

CREATE TRIGGER journal_beats_update AFTER UPDATE ON beats WHEN
    old.seq IS NOT new.seq OR old.round IS NOT new.round OR old.entity_id IS NOT new.entity_id OR old.timestamp IS NOT new.timestamp
    OR old.prose IS NOT new.prose OR old.template IS NOT new.template
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('beats', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.entity_id IS NOT new.entity_id THEN ',"entity_id":' || json_quote(old.entity_id) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.prose IS NOT new.prose THEN ',"prose":' || json_quote(old.prose) ELSE '' END
        || CASE WHEN old.template IS NOT new.template THEN ',"template":' || json_quote(old.template) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_buffer_archive_insert AFTER INSERT ON buffer_archive
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('buffer_archive', '+', new.seq);
END;

CREATE TRIGGER journal_buffer_archive_delete AFTER DELETE ON buffer_archive
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('buffer_archive', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'timestamp', old.timestamp, 'location_id', old.location_id,
        'round', old.round, 'kind', old.kind, 'intent_json', old.intent_json, 'outcome_json', old.outcome_json, 'grasp', old.grasp,
        'pinned', old.pinned, 'fate', old.fate, 'run_id', old.run_id, 'ledger_id', old.ledger_id
    ));
END;

CREATE TRIGGER journal_buffer_archive_update AFTER UPDATE ON buffer_archive WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.timestamp IS NOT new.timestamp
    OR old.location_id IS NOT new.location_id OR old.round IS NOT new.round OR old.kind IS NOT new.kind
    OR old.intent_json IS NOT new.intent_json OR old.outcome_json IS NOT new.outcome_json OR old.grasp IS NOT new.grasp
    OR old.pinned IS NOT new.pinned OR old.fate IS NOT new.fate OR old.run_id IS NOT new.run_id OR old.ledger_id IS NOT new.ledger_id
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('buffer_archive', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.location_id IS NOT new.location_id THEN ',"location_id":' || json_quote(old.location_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.intent_json IS NOT new.intent_json THEN ',"intent_json":' || json_quote(old.intent_json) ELSE '' END
        || CASE WHEN old.outcome_json IS NOT new.outcome_json THEN ',"outcome_json":' || json_quote(old.outcome_json) ELSE '' END
        || CASE WHEN old.grasp IS NOT new.grasp THEN ',"grasp":' || json_quote(old.grasp) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
        || CASE WHEN old.fate IS NOT new.fate THEN ',"fate":' || json_quote(old.fate) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.ledger_id IS NOT new.ledger_id THEN ',"ledger_id":' || json_quote(old.ledger_id) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_buffer_entries_insert AFTER INSERT ON buffer_entries
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('buffer_entries', '+', new.seq);
END;

CREATE TRIGGER journal_buffer_entries_delete AFTER DELETE ON buffer_entries
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('buffer_entries', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'timestamp', old.timestamp, 'location_id', old.location_id,
        'round', old.round, 'kind', old.kind, 'intent_json', old.intent_json, 'outcome_json', old.outcome_json, 'grasp', old.grasp,
        'pinned', old.pinned
    ));
END;

CREATE TRIGGER journal_buffer_entries_update AFTER UPDATE ON buffer_entries WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.timestamp IS NOT new.timestamp
    OR old.location_id IS NOT new.location_id OR old.round IS NOT new.round OR old.kind IS NOT new.kind
    OR old.intent_json IS NOT new.intent_json OR old.outcome_json IS NOT new.outcome_json OR old.grasp IS NOT new.grasp
    OR old.pinned IS NOT new.pinned
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('buffer_entries', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.location_id IS NOT new.location_id THEN ',"location_id":' || json_quote(old.location_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.intent_json IS NOT new.intent_json THEN ',"intent_json":' || json_quote(old.intent_json) ELSE '' END
        || CASE WHEN old.outcome_json IS NOT new.outcome_json THEN ',"outcome_json":' || json_quote(old.outcome_json) ELSE '' END
        || CASE WHEN old.grasp IS NOT new.grasp THEN ',"grasp":' || json_quote(old.grasp) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_counters_insert AFTER INSERT ON counters
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('counters', '+', json_array(new.name));
END;

CREATE TRIGGER journal_counters_delete AFTER DELETE ON counters
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('counters', '-', json_object(
        'name', old.name, 'value', old.value
    ));
END;

CREATE TRIGGER journal_counters_update AFTER UPDATE ON counters WHEN
    old.name IS NOT new.name OR old.value IS NOT new.value
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('counters', '~', json_array(new.name), '{' || substr(
        CASE WHEN old.name IS NOT new.name THEN ',"name":' || json_quote(old.name) ELSE '' END
        || CASE WHEN old.value IS NOT new.value THEN ',"value":' || json_quote(old.value) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_embeddings_delete AFTER DELETE ON embeddings
WHEN NOT EXISTS (SELECT 1 FROM journal_gate WHERE way = 'derived')
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('embeddings', '-', json_object(
        'owner_kind', old.owner_kind, 'id', old.id, 'model', old.model, 'dim', old.dim, 'vector', hex(old.vector)
    ));
END;

CREATE TRIGGER journal_faction_changes_insert AFTER INSERT ON faction_changes
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('faction_changes', '+', new.seq);
END;

CREATE TRIGGER journal_faction_changes_delete AFTER DELETE ON faction_changes
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('faction_changes', '-', json_object(
        'seq', old.seq, 'entity_id', old.entity_id, 'faction', old.faction, 'joined', old.joined, 'round', old.round,
        'timestamp', old.timestamp
    ));
END;

CREATE TRIGGER journal_faction_changes_update AFTER UPDATE ON faction_changes WHEN
    old.seq IS NOT new.seq OR old.entity_id IS NOT new.entity_id OR old.faction IS NOT new.faction OR old.joined IS NOT new.joined
    OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('faction_changes', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.entity_id IS NOT new.entity_id THEN ',"entity_id":' || json_quote(old.entity_id) ELSE '' END
        || CASE WHEN old.faction IS NOT new.faction THEN ',"faction":' || json_quote(old.faction) ELSE '' END
        || CASE WHEN old.joined IS NOT new.joined THEN ',"joined":' || json_quote(old.joined) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_handoff_runs_insert AFTER INSERT ON handoff_runs
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('handoff_runs', '+', new.seq);
END;

CREATE TRIGGER journal_handoff_runs_delete AFTER DELETE ON handoff_runs
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('handoff_runs', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'round', old.round, 'timestamp', old.timestamp, 'cause', old.cause,
        'reason', old.reason, 'status', old.status, 'error', old.error, 'candidates_json', old.candidates_json, 'prompt', old.prompt,
        'reply', old.reply, 'model', old.model, 'template', old.template, 'notes_json', old.notes_json, 'added', old.added,
        'updated', old.updated, 'promoted', old.promoted, 'forgotten', old.forgotten, 'pinned', old.pinned, 'kind', old.kind,
        'decision', old.decision
    ));
END;

CREATE TRIGGER journal_handoff_runs_update AFTER UPDATE ON handoff_runs WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.round IS NOT new.round
    OR old.timestamp IS NOT new.timestamp OR old.cause IS NOT new.cause OR old.reason IS NOT new.reason OR old.status IS NOT new.status
    OR old.error IS NOT new.error OR old.candidates_json IS NOT new.candidates_json OR old.prompt IS NOT new.prompt
    OR old.reply IS NOT new.reply OR old.model IS NOT new.model OR old.template IS NOT new.template
    OR old.notes_json IS NOT new.notes_json OR old.added IS NOT new.added OR old.updated IS NOT new.updated
    OR old.promoted IS NOT new.promoted OR old.forgotten IS NOT new.forgotten OR old.pinned IS NOT new.pinned
    OR old.kind IS NOT new.kind OR old.decision IS NOT new.decision
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('handoff_runs', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.cause IS NOT new.cause THEN ',"cause":' || json_quote(old.cause) ELSE '' END
        || CASE WHEN old.reason IS NOT new.reason THEN ',"reason":' || json_quote(old.reason) ELSE '' END
        || CASE WHEN old.status IS NOT new.status THEN ',"status":' || json_quote(old.status) ELSE '' END
        || CASE WHEN old.error IS NOT new.error THEN ',"error":' || json_quote(old.error) ELSE '' END
        || CASE WHEN old.candidates_json IS NOT new.candidates_json THEN ',"candidates_json":' || json_quote(old.candidates_json) ELSE '' END
        || CASE WHEN old.prompt IS NOT new.prompt THEN ',"prompt":' || json_quote(old.prompt) ELSE '' END
        || CASE WHEN old.reply IS NOT new.reply THEN ',"reply":' || json_quote(old.reply) ELSE '' END
        || CASE WHEN old.model IS NOT new.model THEN ',"model":' || json_quote(old.model) ELSE '' END
        || CASE WHEN old.template IS NOT new.template THEN ',"template":' || json_quote(old.template) ELSE '' END
        || CASE WHEN old.notes_json IS NOT new.notes_json THEN ',"notes_json":' || json_quote(old.notes_json) ELSE '' END
        || CASE WHEN old.added IS NOT new.added THEN ',"added":' || json_quote(old.added) ELSE '' END
        || CASE WHEN old.updated IS NOT new.updated THEN ',"updated":' || json_quote(old.updated) ELSE '' END
        || CASE WHEN old.promoted IS NOT new.promoted THEN ',"promoted":' || json_quote(old.promoted) ELSE '' END
        || CASE WHEN old.forgotten IS NOT new.forgotten THEN ',"forgotten":' || json_quote(old.forgotten) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.decision IS NOT new.decision THEN ',"decision":' || json_quote(old.decision) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_happenings_insert AFTER INSERT ON happenings
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('happenings', '+', new.seq);
END;

CREATE TRIGGER journal_happenings_delete AFTER DELETE ON happenings
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('happenings', '-', json_object(
        'seq', old.seq, 'beat', old.beat, 'round', old.round, 'timestamp', old.timestamp, 'place_id', old.place_id,
        'actor_id', old.actor_id, 'kind', old.kind, 'intent_json', old.intent_json, 'outcome_json', old.outcome_json
    ));
END;

CREATE TRIGGER journal_happenings_update AFTER UPDATE ON happenings WHEN
    old.seq IS NOT new.seq OR old.beat IS NOT new.beat OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp
    OR old.place_id IS NOT new.place_id OR old.actor_id IS NOT new.actor_id OR old.kind IS NOT new.kind
    OR old.intent_json IS NOT new.intent_json OR old.outcome_json IS NOT new.outcome_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('happenings', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.beat IS NOT new.beat THEN ',"beat":' || json_quote(old.beat) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.place_id IS NOT new.place_id THEN ',"place_id":' || json_quote(old.place_id) ELSE '' END
        || CASE WHEN old.actor_id IS NOT new.actor_id THEN ',"actor_id":' || json_quote(old.actor_id) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.intent_json IS NOT new.intent_json THEN ',"intent_json":' || json_quote(old.intent_json) ELSE '' END
        || CASE WHEN old.outcome_json IS NOT new.outcome_json THEN ',"outcome_json":' || json_quote(old.outcome_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_knowledge_insert AFTER INSERT ON knowledge
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('knowledge', '+', new.seq);
END;

CREATE TRIGGER journal_knowledge_delete AFTER DELETE ON knowledge
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('knowledge', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'subject_id', old.subject_id, 'kind', old.kind, 'content', old.content,
        'plain', old.plain, 'rationale', old.rationale, 'topic_key', old.topic_key, 'term', old.term, 'scope', old.scope,
        'scope_id', old.scope_id, 'confidence', quote(old.confidence), 'importance', old.importance, 'sensitivity', old.sensitivity,
        'session_id', old.session_id, 'turns_json', old.turns_json, 'valid_from', old.valid_from, 'valid_to', old.valid_to,
        'supersedes', old.supersedes, 'superseded_by', old.superseded_by, 'pinned', old.pinned, 'authored', old.authored,
        'version', old.version, 'created', old.created, 'created_round', old.created_round, 'updated', old.updated,
        'updated_round', old.updated_round, 'promoted_round', old.promoted_round, 'retrieval_count', old.retrieval_count,
        'last_retrieved_at', old.last_retrieved_at, 'activation', quote(old.activation), 'strength', quote(old.strength),
        'tier', old.tier
    ));
END;

CREATE TRIGGER journal_knowledge_update AFTER UPDATE ON knowledge WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.subject_id IS NOT new.subject_id
    OR old.kind IS NOT new.kind OR old.content IS NOT new.content OR old.plain IS NOT new.plain OR old.rationale IS NOT new.rationale
    OR old.topic_key IS NOT new.topic_key OR old.term IS NOT new.term OR old.scope IS NOT new.scope OR old.scope_id IS NOT new.scope_id
    OR old.confidence IS NOT new.confidence OR old.importance IS NOT new.importance OR old.sensitivity IS NOT new.sensitivity
    OR old.session_id IS NOT new.session_id OR old.turns_json IS NOT new.turns_json OR old.valid_from IS NOT new.valid_from
    OR old.valid_to IS NOT new.valid_to OR old.supersedes IS NOT new.supersedes OR old.superseded_by IS NOT new.superseded_by
    OR old.pinned IS NOT new.pinned OR old.authored IS NOT new.authored OR old.version IS NOT new.version
    OR old.created IS NOT new.created OR old.created_round IS NOT new.created_round OR old.updated IS NOT new.updated
    OR old.updated_round IS NOT new.updated_round OR old.promoted_round IS NOT new.promoted_round
    OR old.retrieval_count IS NOT new.retrieval_count OR old.last_retrieved_at IS NOT new.last_retrieved_at
    OR old.activation IS NOT new.activation OR old.strength IS NOT new.strength OR old.tier IS NOT new.tier
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('knowledge', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.subject_id IS NOT new.subject_id THEN ',"subject_id":' || json_quote(old.subject_id) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.content IS NOT new.content THEN ',"content":' || json_quote(old.content) ELSE '' END
        || CASE WHEN old.plain IS NOT new.plain THEN ',"plain":' || json_quote(old.plain) ELSE '' END
        || CASE WHEN old.rationale IS NOT new.rationale THEN ',"rationale":' || json_quote(old.rationale) ELSE '' END
        || CASE WHEN old.topic_key IS NOT new.topic_key THEN ',"topic_key":' || json_quote(old.topic_key) ELSE '' END
        || CASE WHEN old.term IS NOT new.term THEN ',"term":' || json_quote(old.term) ELSE '' END
        || CASE WHEN old.scope IS NOT new.scope THEN ',"scope":' || json_quote(old.scope) ELSE '' END
        || CASE WHEN old.scope_id IS NOT new.scope_id THEN ',"scope_id":' || json_quote(old.scope_id) ELSE '' END
        || CASE WHEN old.confidence IS NOT new.confidence THEN ',"confidence":' || json_quote(quote(old.confidence)) ELSE '' END
        || CASE WHEN old.importance IS NOT new.importance THEN ',"importance":' || json_quote(old.importance) ELSE '' END
        || CASE WHEN old.sensitivity IS NOT new.sensitivity THEN ',"sensitivity":' || json_quote(old.sensitivity) ELSE '' END
        || CASE WHEN old.session_id IS NOT new.session_id THEN ',"session_id":' || json_quote(old.session_id) ELSE '' END
        || CASE WHEN old.turns_json IS NOT new.turns_json THEN ',"turns_json":' || json_quote(old.turns_json) ELSE '' END
        || CASE WHEN old.valid_from IS NOT new.valid_from THEN ',"valid_from":' || json_quote(old.valid_from) ELSE '' END
        || CASE WHEN old.valid_to IS NOT new.valid_to THEN ',"valid_to":' || json_quote(old.valid_to) ELSE '' END
        || CASE WHEN old.supersedes IS NOT new.supersedes THEN ',"supersedes":' || json_quote(old.supersedes) ELSE '' END
        || CASE WHEN old.superseded_by IS NOT new.superseded_by THEN ',"superseded_by":' || json_quote(old.superseded_by) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
        || CASE WHEN old.authored IS NOT new.authored THEN ',"authored":' || json_quote(old.authored) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
        || CASE WHEN old.created IS NOT new.created THEN ',"created":' || json_quote(old.created) ELSE '' END
        || CASE WHEN old.created_round IS NOT new.created_round THEN ',"created_round":' || json_quote(old.created_round) ELSE '' END
        || CASE WHEN old.updated IS NOT new.updated THEN ',"updated":' || json_quote(old.updated) ELSE '' END
        || CASE WHEN old.updated_round IS NOT new.updated_round THEN ',"updated_round":' || json_quote(old.updated_round) ELSE '' END
        || CASE WHEN old.promoted_round IS NOT new.promoted_round THEN ',"promoted_round":' || json_quote(old.promoted_round) ELSE '' END
        || CASE WHEN old.retrieval_count IS NOT new.retrieval_count THEN ',"retrieval_count":' || json_quote(old.retrieval_count) ELSE '' END
        || CASE WHEN old.last_retrieved_at IS NOT new.last_retrieved_at THEN ',"last_retrieved_at":' || json_quote(old.last_retrieved_at) ELSE '' END
        || CASE WHEN old.activation IS NOT new.activation THEN ',"activation":' || json_quote(quote(old.activation)) ELSE '' END
        || CASE WHEN old.strength IS NOT new.strength THEN ',"strength":' || json_quote(quote(old.strength)) ELSE '' END
        || CASE WHEN old.tier IS NOT new.tier THEN ',"tier":' || json_quote(old.tier) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_knowledge_keepers_insert AFTER INSERT ON knowledge_keepers
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('knowledge_keepers', '+', json_array(new.entity_id, new.knowledge_id));
END;

CREATE TRIGGER journal_knowledge_keepers_delete AFTER DELETE ON knowledge_keepers
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('knowledge_keepers', '-', json_object(
        'entity_id', old.entity_id, 'knowledge_id', old.knowledge_id, 'round', old.round, 'version', old.version
    ));
END;

CREATE TRIGGER journal_knowledge_keepers_update AFTER UPDATE ON knowledge_keepers WHEN
    old.entity_id IS NOT new.entity_id OR old.knowledge_id IS NOT new.knowledge_id OR old.round IS NOT new.round
    OR old.version IS NOT new.version
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('knowledge_keepers', '~', json_array(new.entity_id, new.knowledge_id), '{' || substr(
        CASE WHEN old.entity_id IS NOT new.entity_id THEN ',"entity_id":' || json_quote(old.entity_id) ELSE '' END
        || CASE WHEN old.knowledge_id IS NOT new.knowledge_id THEN ',"knowledge_id":' || json_quote(old.knowledge_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_knowledge_versions_insert AFTER INSERT ON knowledge_versions
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('knowledge_versions', '+', json_array(new.knowledge_id, new.version));
END;

CREATE TRIGGER journal_knowledge_versions_delete AFTER DELETE ON knowledge_versions
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('knowledge_versions', '-', json_object(
        'knowledge_id', old.knowledge_id, 'version', old.version, 'row_json', old.row_json, 'replaced_round', old.replaced_round,
        'replaced', old.replaced, 'cause', old.cause, 'why', old.why
    ));
END;

CREATE TRIGGER journal_knowledge_versions_update AFTER UPDATE ON knowledge_versions WHEN
    old.knowledge_id IS NOT new.knowledge_id OR old.version IS NOT new.version OR old.row_json IS NOT new.row_json
    OR old.replaced_round IS NOT new.replaced_round OR old.replaced IS NOT new.replaced OR old.cause IS NOT new.cause
    OR old.why IS NOT new.why
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('knowledge_versions', '~', json_array(new.knowledge_id, new.version), '{' || substr(
        CASE WHEN old.knowledge_id IS NOT new.knowledge_id THEN ',"knowledge_id":' || json_quote(old.knowledge_id) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
        || CASE WHEN old.row_json IS NOT new.row_json THEN ',"row_json":' || json_quote(old.row_json) ELSE '' END
        || CASE WHEN old.replaced_round IS NOT new.replaced_round THEN ',"replaced_round":' || json_quote(old.replaced_round) ELSE '' END
        || CASE WHEN old.replaced IS NOT new.replaced THEN ',"replaced":' || json_quote(old.replaced) ELSE '' END
        || CASE WHEN old.cause IS NOT new.cause THEN ',"cause":' || json_quote(old.cause) ELSE '' END
        || CASE WHEN old.why IS NOT new.why THEN ',"why":' || json_quote(old.why) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_ledger_archive_insert AFTER INSERT ON ledger_archive
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('ledger_archive', '+', new.seq);
END;

CREATE TRIGGER journal_ledger_archive_delete AFTER DELETE ON ledger_archive
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('ledger_archive', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'timestamp', old.timestamp, 'ended', old.ended,
        'location_id', old.location_id, 'involved_json', old.involved_json, 'content', old.content, 'quotes_json', old.quotes_json,
        'importance', old.importance, 'mode', old.mode, 'run_id', old.run_id, 'version', old.version, 'plain', old.plain,
        'origin', old.origin, 'created_round', old.created_round, 'sources_json', old.sources_json,
        'source_rounds_json', old.source_rounds_json, 'fate', old.fate, 'archived_round', old.archived_round, 'by_run', old.by_run,
        'into_id', old.into_id
    ));
END;

CREATE TRIGGER journal_ledger_archive_update AFTER UPDATE ON ledger_archive WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.timestamp IS NOT new.timestamp
    OR old.ended IS NOT new.ended OR old.location_id IS NOT new.location_id OR old.involved_json IS NOT new.involved_json
    OR old.content IS NOT new.content OR old.quotes_json IS NOT new.quotes_json OR old.importance IS NOT new.importance
    OR old.mode IS NOT new.mode OR old.run_id IS NOT new.run_id OR old.version IS NOT new.version OR old.plain IS NOT new.plain
    OR old.origin IS NOT new.origin OR old.created_round IS NOT new.created_round OR old.sources_json IS NOT new.sources_json
    OR old.source_rounds_json IS NOT new.source_rounds_json OR old.fate IS NOT new.fate OR old.archived_round IS NOT new.archived_round
    OR old.by_run IS NOT new.by_run OR old.into_id IS NOT new.into_id
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('ledger_archive', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.ended IS NOT new.ended THEN ',"ended":' || json_quote(old.ended) ELSE '' END
        || CASE WHEN old.location_id IS NOT new.location_id THEN ',"location_id":' || json_quote(old.location_id) ELSE '' END
        || CASE WHEN old.involved_json IS NOT new.involved_json THEN ',"involved_json":' || json_quote(old.involved_json) ELSE '' END
        || CASE WHEN old.content IS NOT new.content THEN ',"content":' || json_quote(old.content) ELSE '' END
        || CASE WHEN old.quotes_json IS NOT new.quotes_json THEN ',"quotes_json":' || json_quote(old.quotes_json) ELSE '' END
        || CASE WHEN old.importance IS NOT new.importance THEN ',"importance":' || json_quote(old.importance) ELSE '' END
        || CASE WHEN old.mode IS NOT new.mode THEN ',"mode":' || json_quote(old.mode) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
        || CASE WHEN old.plain IS NOT new.plain THEN ',"plain":' || json_quote(old.plain) ELSE '' END
        || CASE WHEN old.origin IS NOT new.origin THEN ',"origin":' || json_quote(old.origin) ELSE '' END
        || CASE WHEN old.created_round IS NOT new.created_round THEN ',"created_round":' || json_quote(old.created_round) ELSE '' END
        || CASE WHEN old.sources_json IS NOT new.sources_json THEN ',"sources_json":' || json_quote(old.sources_json) ELSE '' END
        || CASE WHEN old.source_rounds_json IS NOT new.source_rounds_json THEN ',"source_rounds_json":' || json_quote(old.source_rounds_json) ELSE '' END
        || CASE WHEN old.fate IS NOT new.fate THEN ',"fate":' || json_quote(old.fate) ELSE '' END
        || CASE WHEN old.archived_round IS NOT new.archived_round THEN ',"archived_round":' || json_quote(old.archived_round) ELSE '' END
        || CASE WHEN old.by_run IS NOT new.by_run THEN ',"by_run":' || json_quote(old.by_run) ELSE '' END
        || CASE WHEN old.into_id IS NOT new.into_id THEN ',"into_id":' || json_quote(old.into_id) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_ledger_entries_insert AFTER INSERT ON ledger_entries
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('ledger_entries', '+', new.seq);
END;

CREATE TRIGGER journal_ledger_entries_delete AFTER DELETE ON ledger_entries
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('ledger_entries', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'timestamp', old.timestamp, 'ended', old.ended,
        'location_id', old.location_id, 'involved_json', old.involved_json, 'content', old.content, 'quotes_json', old.quotes_json,
        'importance', old.importance, 'mode', old.mode, 'run_id', old.run_id, 'version', old.version, 'plain', old.plain,
        'origin', old.origin, 'created_round', old.created_round
    ));
END;

CREATE TRIGGER journal_ledger_entries_update AFTER UPDATE ON ledger_entries WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.timestamp IS NOT new.timestamp
    OR old.ended IS NOT new.ended OR old.location_id IS NOT new.location_id OR old.involved_json IS NOT new.involved_json
    OR old.content IS NOT new.content OR old.quotes_json IS NOT new.quotes_json OR old.importance IS NOT new.importance
    OR old.mode IS NOT new.mode OR old.run_id IS NOT new.run_id OR old.version IS NOT new.version OR old.plain IS NOT new.plain
    OR old.origin IS NOT new.origin OR old.created_round IS NOT new.created_round
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('ledger_entries', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.ended IS NOT new.ended THEN ',"ended":' || json_quote(old.ended) ELSE '' END
        || CASE WHEN old.location_id IS NOT new.location_id THEN ',"location_id":' || json_quote(old.location_id) ELSE '' END
        || CASE WHEN old.involved_json IS NOT new.involved_json THEN ',"involved_json":' || json_quote(old.involved_json) ELSE '' END
        || CASE WHEN old.content IS NOT new.content THEN ',"content":' || json_quote(old.content) ELSE '' END
        || CASE WHEN old.quotes_json IS NOT new.quotes_json THEN ',"quotes_json":' || json_quote(old.quotes_json) ELSE '' END
        || CASE WHEN old.importance IS NOT new.importance THEN ',"importance":' || json_quote(old.importance) ELSE '' END
        || CASE WHEN old.mode IS NOT new.mode THEN ',"mode":' || json_quote(old.mode) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
        || CASE WHEN old.plain IS NOT new.plain THEN ',"plain":' || json_quote(old.plain) ELSE '' END
        || CASE WHEN old.origin IS NOT new.origin THEN ',"origin":' || json_quote(old.origin) ELSE '' END
        || CASE WHEN old.created_round IS NOT new.created_round THEN ',"created_round":' || json_quote(old.created_round) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_ledger_sources_insert AFTER INSERT ON ledger_sources
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('ledger_sources', '+', json_array(new.buffer_id, new.ledger_id));
END;

CREATE TRIGGER journal_ledger_sources_delete AFTER DELETE ON ledger_sources
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('ledger_sources', '-', json_object(
        'buffer_id', old.buffer_id, 'ledger_id', old.ledger_id, 'round', old.round
    ));
END;

CREATE TRIGGER journal_ledger_sources_update AFTER UPDATE ON ledger_sources WHEN
    old.buffer_id IS NOT new.buffer_id OR old.ledger_id IS NOT new.ledger_id OR old.round IS NOT new.round
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('ledger_sources', '~', json_array(new.buffer_id, new.ledger_id), '{' || substr(
        CASE WHEN old.buffer_id IS NOT new.buffer_id THEN ',"buffer_id":' || json_quote(old.buffer_id) ELSE '' END
        || CASE WHEN old.ledger_id IS NOT new.ledger_id THEN ',"ledger_id":' || json_quote(old.ledger_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_ledger_use_insert AFTER INSERT ON ledger_use
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('ledger_use', '+', json_array(new.entry_id));
END;

CREATE TRIGGER journal_ledger_use_delete AFTER DELETE ON ledger_use
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('ledger_use', '-', json_object(
        'entry_id', old.entry_id, 'retrieval_count', old.retrieval_count, 'last_retrieved_at', old.last_retrieved_at
    ));
END;

CREATE TRIGGER journal_ledger_use_update AFTER UPDATE ON ledger_use WHEN
    old.entry_id IS NOT new.entry_id OR old.retrieval_count IS NOT new.retrieval_count
    OR old.last_retrieved_at IS NOT new.last_retrieved_at
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('ledger_use', '~', json_array(new.entry_id), '{' || substr(
        CASE WHEN old.entry_id IS NOT new.entry_id THEN ',"entry_id":' || json_quote(old.entry_id) ELSE '' END
        || CASE WHEN old.retrieval_count IS NOT new.retrieval_count THEN ',"retrieval_count":' || json_quote(old.retrieval_count) ELSE '' END
        || CASE WHEN old.last_retrieved_at IS NOT new.last_retrieved_at THEN ',"last_retrieved_at":' || json_quote(old.last_retrieved_at) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_ledger_versions_insert AFTER INSERT ON ledger_versions
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('ledger_versions', '+', json_array(new.entry_id, new.version));
END;

CREATE TRIGGER journal_ledger_versions_delete AFTER DELETE ON ledger_versions
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('ledger_versions', '-', json_object(
        'entry_id', old.entry_id, 'version', old.version, 'timestamp', old.timestamp, 'ended', old.ended, 'location_id', old.location_id,
        'involved_json', old.involved_json, 'content', old.content, 'quotes_json', old.quotes_json, 'importance', old.importance,
        'mode', old.mode, 'run_id', old.run_id, 'plain', old.plain, 'origin', old.origin, 'replaced_round', old.replaced_round
    ));
END;

CREATE TRIGGER journal_ledger_versions_update AFTER UPDATE ON ledger_versions WHEN
    old.entry_id IS NOT new.entry_id OR old.version IS NOT new.version OR old.timestamp IS NOT new.timestamp
    OR old.ended IS NOT new.ended OR old.location_id IS NOT new.location_id OR old.involved_json IS NOT new.involved_json
    OR old.content IS NOT new.content OR old.quotes_json IS NOT new.quotes_json OR old.importance IS NOT new.importance
    OR old.mode IS NOT new.mode OR old.run_id IS NOT new.run_id OR old.plain IS NOT new.plain OR old.origin IS NOT new.origin
    OR old.replaced_round IS NOT new.replaced_round
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('ledger_versions', '~', json_array(new.entry_id, new.version), '{' || substr(
        CASE WHEN old.entry_id IS NOT new.entry_id THEN ',"entry_id":' || json_quote(old.entry_id) ELSE '' END
        || CASE WHEN old.version IS NOT new.version THEN ',"version":' || json_quote(old.version) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.ended IS NOT new.ended THEN ',"ended":' || json_quote(old.ended) ELSE '' END
        || CASE WHEN old.location_id IS NOT new.location_id THEN ',"location_id":' || json_quote(old.location_id) ELSE '' END
        || CASE WHEN old.involved_json IS NOT new.involved_json THEN ',"involved_json":' || json_quote(old.involved_json) ELSE '' END
        || CASE WHEN old.content IS NOT new.content THEN ',"content":' || json_quote(old.content) ELSE '' END
        || CASE WHEN old.quotes_json IS NOT new.quotes_json THEN ',"quotes_json":' || json_quote(old.quotes_json) ELSE '' END
        || CASE WHEN old.importance IS NOT new.importance THEN ',"importance":' || json_quote(old.importance) ELSE '' END
        || CASE WHEN old.mode IS NOT new.mode THEN ',"mode":' || json_quote(old.mode) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.plain IS NOT new.plain THEN ',"plain":' || json_quote(old.plain) ELSE '' END
        || CASE WHEN old.origin IS NOT new.origin THEN ',"origin":' || json_quote(old.origin) ELSE '' END
        || CASE WHEN old.replaced_round IS NOT new.replaced_round THEN ',"replaced_round":' || json_quote(old.replaced_round) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_lore_insert AFTER INSERT ON lore
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('lore', '+', new.seq);
END;

CREATE TRIGGER journal_lore_delete AFTER DELETE ON lore
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('lore', '-', json_object(
        'seq', old.seq, 'id', old.id, 'text', old.text, 'keys_json', old.keys_json, 'constant', old.constant, 'scope', old.scope,
        'holders_json', old.holders_json, 'since', old.since, 'until', old.until, 'stays_minutes', old.stays_minutes,
        'rests_minutes', old.rests_minutes
    ));
END;

CREATE TRIGGER journal_lore_update AFTER UPDATE ON lore WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.text IS NOT new.text OR old.keys_json IS NOT new.keys_json
    OR old.constant IS NOT new.constant OR old.scope IS NOT new.scope OR old.holders_json IS NOT new.holders_json
    OR old.since IS NOT new.since OR old.until IS NOT new.until OR old.stays_minutes IS NOT new.stays_minutes
    OR old.rests_minutes IS NOT new.rests_minutes
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('lore', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.text IS NOT new.text THEN ',"text":' || json_quote(old.text) ELSE '' END
        || CASE WHEN old.keys_json IS NOT new.keys_json THEN ',"keys_json":' || json_quote(old.keys_json) ELSE '' END
        || CASE WHEN old.constant IS NOT new.constant THEN ',"constant":' || json_quote(old.constant) ELSE '' END
        || CASE WHEN old.scope IS NOT new.scope THEN ',"scope":' || json_quote(old.scope) ELSE '' END
        || CASE WHEN old.holders_json IS NOT new.holders_json THEN ',"holders_json":' || json_quote(old.holders_json) ELSE '' END
        || CASE WHEN old.since IS NOT new.since THEN ',"since":' || json_quote(old.since) ELSE '' END
        || CASE WHEN old.until IS NOT new.until THEN ',"until":' || json_quote(old.until) ELSE '' END
        || CASE WHEN old.stays_minutes IS NOT new.stays_minutes THEN ',"stays_minutes":' || json_quote(old.stays_minutes) ELSE '' END
        || CASE WHEN old.rests_minutes IS NOT new.rests_minutes THEN ',"rests_minutes":' || json_quote(old.rests_minutes) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_lore_calls_insert AFTER INSERT ON lore_calls
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('lore_calls', '+', json_array(new.owner_id, new.lore_id, new.called));
END;

CREATE TRIGGER journal_lore_calls_delete AFTER DELETE ON lore_calls
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('lore_calls', '-', json_object(
        'owner_id', old.owner_id, 'lore_id', old.lore_id, 'called', old.called, 'round', old.round
    ));
END;

CREATE TRIGGER journal_lore_calls_update AFTER UPDATE ON lore_calls WHEN
    old.owner_id IS NOT new.owner_id OR old.lore_id IS NOT new.lore_id OR old.called IS NOT new.called OR old.round IS NOT new.round
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('lore_calls', '~', json_array(new.owner_id, new.lore_id, new.called), '{' || substr(
        CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.lore_id IS NOT new.lore_id THEN ',"lore_id":' || json_quote(old.lore_id) ELSE '' END
        || CASE WHEN old.called IS NOT new.called THEN ',"called":' || json_quote(old.called) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_meta_insert AFTER INSERT ON meta
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('meta', '+', json_array(new.key));
END;

CREATE TRIGGER journal_meta_delete AFTER DELETE ON meta
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('meta', '-', json_object(
        'key', old.key, 'value', old.value
    ));
END;

CREATE TRIGGER journal_meta_update AFTER UPDATE ON meta WHEN
    old.key IS NOT new.key OR old.value IS NOT new.value
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('meta', '~', json_array(new.key), '{' || substr(
        CASE WHEN old.key IS NOT new.key THEN ',"key":' || json_quote(old.key) ELSE '' END
        || CASE WHEN old.value IS NOT new.value THEN ',"value":' || json_quote(old.value) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_moves_insert AFTER INSERT ON moves
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('moves', '+', new.seq);
END;

CREATE TRIGGER journal_moves_delete AFTER DELETE ON moves
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('moves', '-', json_object(
        'seq', old.seq, 'round', old.round, 'entity_id', old.entity_id, 'from_place', old.from_place, 'to_place', old.to_place
    ));
END;

CREATE TRIGGER journal_moves_update AFTER UPDATE ON moves WHEN
    old.seq IS NOT new.seq OR old.round IS NOT new.round OR old.entity_id IS NOT new.entity_id OR old.from_place IS NOT new.from_place
    OR old.to_place IS NOT new.to_place
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('moves', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.entity_id IS NOT new.entity_id THEN ',"entity_id":' || json_quote(old.entity_id) ELSE '' END
        || CASE WHEN old.from_place IS NOT new.from_place THEN ',"from_place":' || json_quote(old.from_place) ELSE '' END
        || CASE WHEN old.to_place IS NOT new.to_place THEN ',"to_place":' || json_quote(old.to_place) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_objects_insert AFTER INSERT ON objects
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('objects', '+', new.seq);
END;

CREATE TRIGGER journal_objects_delete AFTER DELETE ON objects
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('objects', '-', json_object(
        'seq', old.seq, 'id', old.id, 'agent', old.agent, 'place_id', old.place_id, 'holder_id', old.holder_id,
        'sort_order', old.sort_order, 'factions_json', old.factions_json, 'goals_json', old.goals_json, 'habits_json', old.habits_json,
        'voice_json', old.voice_json, 'attributes_json', old.attributes_json, 'aliases_json', old.aliases_json
    ));
END;

CREATE TRIGGER journal_objects_update AFTER UPDATE ON objects WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.agent IS NOT new.agent OR old.place_id IS NOT new.place_id
    OR old.holder_id IS NOT new.holder_id OR old.sort_order IS NOT new.sort_order OR old.factions_json IS NOT new.factions_json
    OR old.goals_json IS NOT new.goals_json OR old.habits_json IS NOT new.habits_json OR old.voice_json IS NOT new.voice_json
    OR old.attributes_json IS NOT new.attributes_json OR old.aliases_json IS NOT new.aliases_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('objects', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.agent IS NOT new.agent THEN ',"agent":' || json_quote(old.agent) ELSE '' END
        || CASE WHEN old.place_id IS NOT new.place_id THEN ',"place_id":' || json_quote(old.place_id) ELSE '' END
        || CASE WHEN old.holder_id IS NOT new.holder_id THEN ',"holder_id":' || json_quote(old.holder_id) ELSE '' END
        || CASE WHEN old.sort_order IS NOT new.sort_order THEN ',"sort_order":' || json_quote(old.sort_order) ELSE '' END
        || CASE WHEN old.factions_json IS NOT new.factions_json THEN ',"factions_json":' || json_quote(old.factions_json) ELSE '' END
        || CASE WHEN old.goals_json IS NOT new.goals_json THEN ',"goals_json":' || json_quote(old.goals_json) ELSE '' END
        || CASE WHEN old.habits_json IS NOT new.habits_json THEN ',"habits_json":' || json_quote(old.habits_json) ELSE '' END
        || CASE WHEN old.voice_json IS NOT new.voice_json THEN ',"voice_json":' || json_quote(old.voice_json) ELSE '' END
        || CASE WHEN old.attributes_json IS NOT new.attributes_json THEN ',"attributes_json":' || json_quote(old.attributes_json) ELSE '' END
        || CASE WHEN old.aliases_json IS NOT new.aliases_json THEN ',"aliases_json":' || json_quote(old.aliases_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_places_insert AFTER INSERT ON places
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('places', '+', new.seq);
END;

CREATE TRIGGER journal_places_delete AFTER DELETE ON places
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('places', '-', json_object(
        'seq', old.seq, 'id', old.id, 'name', old.name, 'description', old.description, 'attributes_json', old.attributes_json,
        'position_json', old.position_json
    ));
END;

CREATE TRIGGER journal_places_update AFTER UPDATE ON places WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.name IS NOT new.name OR old.description IS NOT new.description
    OR old.attributes_json IS NOT new.attributes_json OR old.position_json IS NOT new.position_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('places', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.name IS NOT new.name THEN ',"name":' || json_quote(old.name) ELSE '' END
        || CASE WHEN old.description IS NOT new.description THEN ',"description":' || json_quote(old.description) ELSE '' END
        || CASE WHEN old.attributes_json IS NOT new.attributes_json THEN ',"attributes_json":' || json_quote(old.attributes_json) ELSE '' END
        || CASE WHEN old.position_json IS NOT new.position_json THEN ',"position_json":' || json_quote(old.position_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_portals_insert AFTER INSERT ON portals
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('portals', '+', new.seq);
END;

CREATE TRIGGER journal_portals_delete AFTER DELETE ON portals
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('portals', '-', json_object(
        'seq', old.seq, 'id', old.id, 'name', old.name, 'a', old.a, 'b', old.b, 'one_way', old.one_way, 'state', old.state,
        'vision', old.vision, 'sound', old.sound, 'vision_other', old.vision_other, 'sound_other', old.sound_other, 'key_id', old.key_id
    ));
END;

CREATE TRIGGER journal_portals_update AFTER UPDATE ON portals WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.name IS NOT new.name OR old.a IS NOT new.a OR old.b IS NOT new.b
    OR old.one_way IS NOT new.one_way OR old.state IS NOT new.state OR old.vision IS NOT new.vision OR old.sound IS NOT new.sound
    OR old.vision_other IS NOT new.vision_other OR old.sound_other IS NOT new.sound_other OR old.key_id IS NOT new.key_id
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('portals', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.name IS NOT new.name THEN ',"name":' || json_quote(old.name) ELSE '' END
        || CASE WHEN old.a IS NOT new.a THEN ',"a":' || json_quote(old.a) ELSE '' END
        || CASE WHEN old.b IS NOT new.b THEN ',"b":' || json_quote(old.b) ELSE '' END
        || CASE WHEN old.one_way IS NOT new.one_way THEN ',"one_way":' || json_quote(old.one_way) ELSE '' END
        || CASE WHEN old.state IS NOT new.state THEN ',"state":' || json_quote(old.state) ELSE '' END
        || CASE WHEN old.vision IS NOT new.vision THEN ',"vision":' || json_quote(old.vision) ELSE '' END
        || CASE WHEN old.sound IS NOT new.sound THEN ',"sound":' || json_quote(old.sound) ELSE '' END
        || CASE WHEN old.vision_other IS NOT new.vision_other THEN ',"vision_other":' || json_quote(old.vision_other) ELSE '' END
        || CASE WHEN old.sound_other IS NOT new.sound_other THEN ',"sound_other":' || json_quote(old.sound_other) ELSE '' END
        || CASE WHEN old.key_id IS NOT new.key_id THEN ',"key_id":' || json_quote(old.key_id) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_promotion_runs_insert AFTER INSERT ON promotion_runs
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('promotion_runs', '+', new.seq);
END;

CREATE TRIGGER journal_promotion_runs_delete AFTER DELETE ON promotion_runs
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('promotion_runs', '-', json_object(
        'seq', old.seq, 'id', old.id, 'round', old.round, 'timestamp', old.timestamp, 'run_json', old.run_json
    ));
END;

CREATE TRIGGER journal_promotion_runs_update AFTER UPDATE ON promotion_runs WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp
    OR old.run_json IS NOT new.run_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('promotion_runs', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.run_json IS NOT new.run_json THEN ',"run_json":' || json_quote(old.run_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_proposals_insert AFTER INSERT ON proposals
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('proposals', '+', new.seq);
END;

CREATE TRIGGER journal_proposals_delete AFTER DELETE ON proposals
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('proposals', '-', json_object(
        'seq', old.seq, 'id', old.id, 'owner_id', old.owner_id, 'kind', old.kind, 'round', old.round, 'timestamp', old.timestamp,
        'proposal_json', old.proposal_json, 'verdicts_json', old.verdicts_json
    ));
END;

CREATE TRIGGER journal_proposals_update AFTER UPDATE ON proposals WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.owner_id IS NOT new.owner_id OR old.kind IS NOT new.kind
    OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp OR old.proposal_json IS NOT new.proposal_json
    OR old.verdicts_json IS NOT new.verdicts_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('proposals', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.owner_id IS NOT new.owner_id THEN ',"owner_id":' || json_quote(old.owner_id) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.proposal_json IS NOT new.proposal_json THEN ',"proposal_json":' || json_quote(old.proposal_json) ELSE '' END
        || CASE WHEN old.verdicts_json IS NOT new.verdicts_json THEN ',"verdicts_json":' || json_quote(old.verdicts_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_restorations_insert AFTER INSERT ON restorations
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('restorations', '+', new.seq);
END;

CREATE TRIGGER journal_restorations_delete AFTER DELETE ON restorations
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('restorations', '-', json_object(
        'seq', old.seq, 'kind', old.kind, 'id', old.id, 'round', old.round, 'pinned', old.pinned, 'fate', old.fate,
        'left_round', old.left_round, 'run_id', old.run_id, 'ledger_id', old.ledger_id, 'origin', old.origin, 'done', old.done
    ));
END;

CREATE TRIGGER journal_restorations_update AFTER UPDATE ON restorations WHEN
    old.seq IS NOT new.seq OR old.kind IS NOT new.kind OR old.id IS NOT new.id OR old.round IS NOT new.round
    OR old.pinned IS NOT new.pinned OR old.fate IS NOT new.fate OR old.left_round IS NOT new.left_round OR old.run_id IS NOT new.run_id
    OR old.ledger_id IS NOT new.ledger_id OR old.origin IS NOT new.origin OR old.done IS NOT new.done
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('restorations', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.kind IS NOT new.kind THEN ',"kind":' || json_quote(old.kind) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
        || CASE WHEN old.fate IS NOT new.fate THEN ',"fate":' || json_quote(old.fate) ELSE '' END
        || CASE WHEN old.left_round IS NOT new.left_round THEN ',"left_round":' || json_quote(old.left_round) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.ledger_id IS NOT new.ledger_id THEN ',"ledger_id":' || json_quote(old.ledger_id) ELSE '' END
        || CASE WHEN old.origin IS NOT new.origin THEN ',"origin":' || json_quote(old.origin) ELSE '' END
        || CASE WHEN old.done IS NOT new.done THEN ',"done":' || json_quote(old.done) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_review_queue_insert AFTER INSERT ON review_queue
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('review_queue', '+', new.seq);
END;

CREATE TRIGGER journal_review_queue_delete AFTER DELETE ON review_queue
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('review_queue', '-', json_object(
        'seq', old.seq, 'id', old.id, 'knowledge_id', old.knowledge_id, 'reason', old.reason, 'scope', old.scope,
        'scope_id', old.scope_id, 'round', old.round, 'timestamp', old.timestamp
    ));
END;

CREATE TRIGGER journal_review_queue_update AFTER UPDATE ON review_queue WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.knowledge_id IS NOT new.knowledge_id OR old.reason IS NOT new.reason
    OR old.scope IS NOT new.scope OR old.scope_id IS NOT new.scope_id OR old.round IS NOT new.round
    OR old.timestamp IS NOT new.timestamp
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('review_queue', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.knowledge_id IS NOT new.knowledge_id THEN ',"knowledge_id":' || json_quote(old.knowledge_id) ELSE '' END
        || CASE WHEN old.reason IS NOT new.reason THEN ',"reason":' || json_quote(old.reason) ELSE '' END
        || CASE WHEN old.scope IS NOT new.scope THEN ',"scope":' || json_quote(old.scope) ELSE '' END
        || CASE WHEN old.scope_id IS NOT new.scope_id THEN ',"scope_id":' || json_quote(old.scope_id) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_rounds_insert AFTER INSERT ON rounds
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('rounds', '+', new.round);
END;

CREATE TRIGGER journal_rounds_delete AFTER DELETE ON rounds
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('rounds', '-', json_object(
        'round', old.round, 'started', old.started
    ));
END;

CREATE TRIGGER journal_rounds_update AFTER UPDATE ON rounds WHEN
    old.round IS NOT new.round OR old.started IS NOT new.started
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('rounds', '~', new.round, '{' || substr(
        CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.started IS NOT new.started THEN ',"started":' || json_quote(old.started) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_run_log_insert AFTER INSERT ON run_log
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('run_log', '+', new.seq);
END;

CREATE TRIGGER journal_run_log_delete AFTER DELETE ON run_log
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('run_log', '-', json_object(
        'seq', old.seq, 'run_id', old.run_id, 'seconds', quote(old.seconds)
    ));
END;

CREATE TRIGGER journal_run_log_update AFTER UPDATE ON run_log WHEN
    old.seq IS NOT new.seq OR old.run_id IS NOT new.run_id OR old.seconds IS NOT new.seconds
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('run_log', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.run_id IS NOT new.run_id THEN ',"run_id":' || json_quote(old.run_id) ELSE '' END
        || CASE WHEN old.seconds IS NOT new.seconds THEN ',"seconds":' || json_quote(quote(old.seconds)) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_session_sources_insert AFTER INSERT ON session_sources
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('session_sources', '+', json_array(new.session_id, new.buffer_id));
END;

CREATE TRIGGER journal_session_sources_delete AFTER DELETE ON session_sources
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('session_sources', '-', json_object(
        'session_id', old.session_id, 'buffer_id', old.buffer_id, 'part', old.part, 'round', old.round
    ));
END;

CREATE TRIGGER journal_session_sources_update AFTER UPDATE ON session_sources WHEN
    old.session_id IS NOT new.session_id OR old.buffer_id IS NOT new.buffer_id OR old.part IS NOT new.part OR old.round IS NOT new.round
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('session_sources', '~', json_array(new.session_id, new.buffer_id), '{' || substr(
        CASE WHEN old.session_id IS NOT new.session_id THEN ',"session_id":' || json_quote(old.session_id) ELSE '' END
        || CASE WHEN old.buffer_id IS NOT new.buffer_id THEN ',"buffer_id":' || json_quote(old.buffer_id) ELSE '' END
        || CASE WHEN old.part IS NOT new.part THEN ',"part":' || json_quote(old.part) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_session_summaries_insert AFTER INSERT ON session_summaries
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('session_summaries', '+', new.seq);
END;

CREATE TRIGGER journal_session_summaries_delete AFTER DELETE ON session_summaries
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('session_summaries', '-', json_object(
        'seq', old.seq, 'id', old.id, 'session_id', old.session_id, 'agent_id', old.agent_id, 'part', old.part, 'status', old.status,
        'round', old.round, 'timestamp', old.timestamp, 'run_json', old.run_json
    ));
END;

CREATE TRIGGER journal_session_summaries_update AFTER UPDATE ON session_summaries WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.session_id IS NOT new.session_id OR old.agent_id IS NOT new.agent_id
    OR old.part IS NOT new.part OR old.status IS NOT new.status OR old.round IS NOT new.round OR old.timestamp IS NOT new.timestamp
    OR old.run_json IS NOT new.run_json
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('session_summaries', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.session_id IS NOT new.session_id THEN ',"session_id":' || json_quote(old.session_id) ELSE '' END
        || CASE WHEN old.agent_id IS NOT new.agent_id THEN ',"agent_id":' || json_quote(old.agent_id) ELSE '' END
        || CASE WHEN old.part IS NOT new.part THEN ',"part":' || json_quote(old.part) ELSE '' END
        || CASE WHEN old.status IS NOT new.status THEN ',"status":' || json_quote(old.status) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.run_json IS NOT new.run_json THEN ',"run_json":' || json_quote(old.run_json) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_session_turns_insert AFTER INSERT ON session_turns
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('session_turns', '+', new.seq);
END;

CREATE TRIGGER journal_session_turns_delete AFTER DELETE ON session_turns
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('session_turns', '-', json_object(
        'seq', old.seq, 'id', old.id, 'session_id', old.session_id, 'role', old.role, 'speaker_id', old.speaker_id,
        'content', old.content, 'pinned', old.pinned, 'hint', old.hint, 'timestamp', old.timestamp, 'round', old.round,
        'source_id', old.source_id
    ));
END;

CREATE TRIGGER journal_session_turns_update AFTER UPDATE ON session_turns WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.session_id IS NOT new.session_id OR old.role IS NOT new.role
    OR old.speaker_id IS NOT new.speaker_id OR old.content IS NOT new.content OR old.pinned IS NOT new.pinned
    OR old.hint IS NOT new.hint OR old.timestamp IS NOT new.timestamp OR old.round IS NOT new.round
    OR old.source_id IS NOT new.source_id
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('session_turns', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.session_id IS NOT new.session_id THEN ',"session_id":' || json_quote(old.session_id) ELSE '' END
        || CASE WHEN old.role IS NOT new.role THEN ',"role":' || json_quote(old.role) ELSE '' END
        || CASE WHEN old.speaker_id IS NOT new.speaker_id THEN ',"speaker_id":' || json_quote(old.speaker_id) ELSE '' END
        || CASE WHEN old.content IS NOT new.content THEN ',"content":' || json_quote(old.content) ELSE '' END
        || CASE WHEN old.pinned IS NOT new.pinned THEN ',"pinned":' || json_quote(old.pinned) ELSE '' END
        || CASE WHEN old.hint IS NOT new.hint THEN ',"hint":' || json_quote(old.hint) ELSE '' END
        || CASE WHEN old.timestamp IS NOT new.timestamp THEN ',"timestamp":' || json_quote(old.timestamp) ELSE '' END
        || CASE WHEN old.round IS NOT new.round THEN ',"round":' || json_quote(old.round) ELSE '' END
        || CASE WHEN old.source_id IS NOT new.source_id THEN ',"source_id":' || json_quote(old.source_id) ELSE '' END
    , 2) || '}');
END;

CREATE TRIGGER journal_sessions_insert AFTER INSERT ON sessions
BEGIN
    INSERT INTO journal_rows (name, op, key) VALUES ('sessions', '+', new.seq);
END;

CREATE TRIGGER journal_sessions_delete AFTER DELETE ON sessions
BEGIN
    INSERT INTO journal_rows (name, op, image) VALUES ('sessions', '-', json_object(
        'seq', old.seq, 'id', old.id, 'agent_id', old.agent_id, 'actor_id', old.actor_id, 'status', old.status,
        'promotion_state', old.promotion_state, 'started', old.started, 'started_round', old.started_round,
        'last_turn_at', old.last_turn_at, 'ended', old.ended, 'ended_round', old.ended_round, 'policy_json', old.policy_json,
        'scratch_json', old.scratch_json, 'tasks_json', old.tasks_json, 'entities_json', old.entities_json,
        'decisions_json', old.decisions_json, 'parts', old.parts, 'asked', old.asked
    ));
END;

CREATE TRIGGER journal_sessions_update AFTER UPDATE ON sessions WHEN
    old.seq IS NOT new.seq OR old.id IS NOT new.id OR old.agent_id IS NOT new.agent_id OR old.actor_id IS NOT new.actor_id
    OR old.status IS NOT new.status OR old.promotion_state IS NOT new.promotion_state OR old.started IS NOT new.started
    OR old.started_round IS NOT new.started_round OR old.last_turn_at IS NOT new.last_turn_at OR old.ended IS NOT new.ended
    OR old.ended_round IS NOT new.ended_round OR old.policy_json IS NOT new.policy_json OR old.scratch_json IS NOT new.scratch_json
    OR old.tasks_json IS NOT new.tasks_json OR old.entities_json IS NOT new.entities_json
    OR old.decisions_json IS NOT new.decisions_json OR old.parts IS NOT new.parts OR old.asked IS NOT new.asked
BEGIN
    INSERT INTO journal_rows (name, op, key, image) VALUES ('sessions', '~', new.seq, '{' || substr(
        CASE WHEN old.seq IS NOT new.seq THEN ',"seq":' || json_quote(old.seq) ELSE '' END
        || CASE WHEN old.id IS NOT new.id THEN ',"id":' || json_quote(old.id) ELSE '' END
        || CASE WHEN old.agent_id IS NOT new.agent_id THEN ',"agent_id":' || json_quote(old.agent_id) ELSE '' END
        || CASE WHEN old.actor_id IS NOT new.actor_id THEN ',"actor_id":' || json_quote(old.actor_id) ELSE '' END
        || CASE WHEN old.status IS NOT new.status THEN ',"status":' || json_quote(old.status) ELSE '' END
        || CASE WHEN old.promotion_state IS NOT new.promotion_state THEN ',"promotion_state":' || json_quote(old.promotion_state) ELSE '' END
        || CASE WHEN old.started IS NOT new.started THEN ',"started":' || json_quote(old.started) ELSE '' END
        || CASE WHEN old.started_round IS NOT new.started_round THEN ',"started_round":' || json_quote(old.started_round) ELSE '' END
        || CASE WHEN old.last_turn_at IS NOT new.last_turn_at THEN ',"last_turn_at":' || json_quote(old.last_turn_at) ELSE '' END
        || CASE WHEN old.ended IS NOT new.ended THEN ',"ended":' || json_quote(old.ended) ELSE '' END
        || CASE WHEN old.ended_round IS NOT new.ended_round THEN ',"ended_round":' || json_quote(old.ended_round) ELSE '' END
        || CASE WHEN old.policy_json IS NOT new.policy_json THEN ',"policy_json":' || json_quote(old.policy_json) ELSE '' END
        || CASE WHEN old.scratch_json IS NOT new.scratch_json THEN ',"scratch_json":' || json_quote(old.scratch_json) ELSE '' END
        || CASE WHEN old.tasks_json IS NOT new.tasks_json THEN ',"tasks_json":' || json_quote(old.tasks_json) ELSE '' END
        || CASE WHEN old.entities_json IS NOT new.entities_json THEN ',"entities_json":' || json_quote(old.entities_json) ELSE '' END
        || CASE WHEN old.decisions_json IS NOT new.decisions_json THEN ',"decisions_json":' || json_quote(old.decisions_json) ELSE '' END
        || CASE WHEN old.parts IS NOT new.parts THEN ',"parts":' || json_quote(old.parts) ELSE '' END
        || CASE WHEN old.asked IS NOT new.asked THEN ',"asked":' || json_quote(old.asked) ELSE '' END
    , 2) || '}');
END;
