-- Ways back: earlier wordings, memories that left the ledger, restored ones, proposals that wait for a person, use, and who was where.

-- Where a memory came from, and the round it has been there since. Earlier saves know the handoff that wrote it last.
ALTER TABLE ledger_entries ADD COLUMN origin TEXT NOT NULL DEFAULT 'world'
    CHECK (origin IN ('world', 'handoff', 'hand', 'compression'));
ALTER TABLE ledger_entries ADD COLUMN created_round INTEGER NOT NULL DEFAULT 0 CHECK (created_round >= 0);

UPDATE ledger_entries
SET origin = 'handoff', created_round = (SELECT round FROM handoff_runs WHERE id = ledger_entries.run_id)
WHERE run_id IS NOT NULL;

-- Since which round an event has been a source of a memory; 0 for those of earlier versions.
ALTER TABLE ledger_sources ADD COLUMN round INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0);

-- What a run was for, and whether a person decided.
ALTER TABLE handoff_runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'handoff' CHECK (kind IN ('handoff', 'compression'));
ALTER TABLE handoff_runs ADD COLUMN decision TEXT NOT NULL DEFAULT 'auto' CHECK (decision IN ('auto', 'accepted', 'rejected'));

-- Which memories entered prompts: nothing else of a memory changes by being recalled.
CREATE TABLE ledger_use (
    entry_id TEXT PRIMARY KEY REFERENCES ledger_entries (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    retrieval_count INTEGER NOT NULL CHECK (retrieval_count > 0),
    last_retrieved_at TEXT NOT NULL CHECK (length(last_retrieved_at) = 19)
) STRICT, WITHOUT ROWID;

-- Earlier wordings of memories that were rewritten.
CREATE TABLE ledger_versions (
    entry_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    timestamp TEXT NOT NULL,
    ended TEXT NOT NULL,
    location_id TEXT,
    involved_json TEXT NOT NULL,
    content TEXT NOT NULL,
    quotes_json TEXT NOT NULL,
    importance INTEGER NOT NULL,
    mode TEXT NOT NULL,
    run_id TEXT,
    plain TEXT NOT NULL,
    origin TEXT NOT NULL,
    replaced_round INTEGER NOT NULL,
    PRIMARY KEY (entry_id, version)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_versions_keep AFTER UPDATE OF version ON ledger_entries WHEN new.version <> old.version
BEGIN
    INSERT INTO ledger_versions (entry_id, version, timestamp, ended, location_id, involved_json, content, quotes_json, importance,
        mode, run_id, plain, origin, replaced_round)
    VALUES (old.id, old.version, old.timestamp, old.ended, old.location_id, old.involved_json, old.content, old.quotes_json,
        old.importance, old.mode, old.run_id, old.plain, old.origin,
        (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'));
END;

-- Memories that left the ledger: told by another entry now (`into_id`), or taken away by hand.
CREATE TABLE ledger_archive (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    ended TEXT NOT NULL CHECK (length(ended) = 19),
    location_id TEXT REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    involved_json TEXT NOT NULL CHECK (json_valid(involved_json)),
    content TEXT NOT NULL CHECK (content <> ''),
    quotes_json TEXT NOT NULL CHECK (json_valid(quotes_json)),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    mode TEXT NOT NULL CHECK (mode IN ('said', 'done', 'thought')),
    run_id TEXT REFERENCES handoff_runs (id) DEFERRABLE INITIALLY DEFERRED,
    version INTEGER NOT NULL CHECK (version >= 1),
    plain TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('world', 'handoff', 'hand', 'compression')),
    created_round INTEGER NOT NULL CHECK (created_round >= 0),
    sources_json TEXT NOT NULL CHECK (json_valid(sources_json)),
    source_rounds_json TEXT NOT NULL CHECK (json_valid(source_rounds_json)),
    fate TEXT NOT NULL CHECK (fate IN ('consolidated', 'merged', 'removed')),
    archived_round INTEGER NOT NULL CHECK (archived_round >= 0),
    by_run TEXT REFERENCES handoff_runs (id) DEFERRABLE INITIALLY DEFERRED,
    into_id TEXT,
    CHECK ((fate = 'removed') = (into_id IS NULL))
) STRICT;

CREATE INDEX ledger_archive_by_owner ON ledger_archive (owner_id, timestamp, seq);
CREATE INDEX ledger_archive_into ON ledger_archive (into_id) WHERE into_id IS NOT NULL;

-- What was brought back, from which fate. Writing a row here is the only way back: the triggers below do the rest.
CREATE TABLE restorations (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('buffer', 'ledger')),
    id TEXT NOT NULL,
    round INTEGER NOT NULL CHECK (round >= 0),
    pinned TEXT NOT NULL CHECK (pinned IN ('none', 'model', 'hand')),
    fate TEXT NOT NULL,
    left_round INTEGER NOT NULL,
    run_id TEXT,
    ledger_id TEXT,
    origin TEXT,
    done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1))
) STRICT;

CREATE INDEX restorations_open ON restorations (kind, id) WHERE done = 0;

-- The archive of events once more, without the promise that the memory an event went to is still in the ledger: that memory may
-- itself be told by another one by now.
DROP TRIGGER buffer_entries_guard_delete;
DROP TRIGGER buffer_entries_guard_insert;
DROP TRIGGER buffer_archive_guard_delete;
DROP TRIGGER buffer_archive_guard_update;

CREATE TABLE buffer_archive_next (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    location_id TEXT REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    round INTEGER NOT NULL CHECK (round >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('dialogue', 'action', 'monologue')),
    intent_json TEXT NOT NULL CHECK (json_valid(intent_json)),
    outcome_json TEXT CHECK (outcome_json IS NULL OR json_valid(outcome_json)),
    grasp TEXT NOT NULL CHECK (grasp IN ('full', 'faint', 'seen')),
    pinned TEXT NOT NULL CHECK (pinned IN ('none', 'model', 'hand')),
    fate TEXT NOT NULL CHECK (fate IN ('promoted', 'forgotten')),
    run_id TEXT NOT NULL REFERENCES handoff_runs (id) DEFERRABLE INITIALLY DEFERRED,
    ledger_id TEXT,
    CHECK ((fate = 'promoted') = (ledger_id IS NOT NULL))
) STRICT;

INSERT INTO buffer_archive_next
SELECT seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned, fate, run_id, ledger_id
FROM buffer_archive;

DROP TABLE buffer_archive;
ALTER TABLE buffer_archive_next RENAME TO buffer_archive;

CREATE INDEX buffer_archive_by_owner ON buffer_archive (owner_id, timestamp, seq);
CREATE INDEX buffer_archive_by_run ON buffer_archive (run_id);
CREATE INDEX buffer_archive_by_ledger ON buffer_archive (ledger_id) WHERE ledger_id IS NOT NULL;

CREATE TRIGGER buffer_archive_guard_insert BEFORE INSERT ON buffer_archive
WHEN new.ledger_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_entries WHERE id = new.ledger_id)
BEGIN
    SELECT raise(ABORT, 'an event can only be promoted to a memory that is there');
END;

CREATE TRIGGER buffer_archive_guard_update BEFORE UPDATE ON buffer_archive
BEGIN
    SELECT raise(ABORT, 'the archive is never rewritten');
END;

CREATE TRIGGER buffer_archive_guard_delete BEFORE DELETE ON buffer_archive
WHEN NOT EXISTS (
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
WHEN NOT EXISTS (
    SELECT 1 FROM buffer_archive AS kept
    WHERE kept.seq = old.seq AND kept.id = old.id AND kept.owner_id = old.owner_id AND kept.timestamp = old.timestamp
        AND kept.location_id IS old.location_id AND kept.round = old.round AND kept.intent_json = old.intent_json
        AND kept.outcome_json IS old.outcome_json AND kept.grasp = old.grasp
)
BEGIN
    SELECT raise(ABORT, 'a buffer entry may only go when the archive holds it');
END;

CREATE TRIGGER buffer_entries_guard_insert BEFORE INSERT ON buffer_entries
WHEN EXISTS (SELECT 1 FROM buffer_archive WHERE seq = new.seq OR id = new.id)
    AND NOT EXISTS (SELECT 1 FROM restorations WHERE kind = 'buffer' AND id = new.id AND done = 0)
BEGIN
    SELECT raise(ABORT, 'an archived buffer entry may not be written again');
END;

CREATE TRIGGER restorations_buffer AFTER INSERT ON restorations WHEN new.kind = 'buffer'
BEGIN
    SELECT raise(ABORT, 'only an archived event can be restored')
    WHERE NOT EXISTS (SELECT 1 FROM buffer_archive WHERE id = new.id);
    INSERT INTO buffer_entries (seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, pinned)
    SELECT seq, id, owner_id, timestamp, location_id, round, kind, intent_json, outcome_json, grasp, new.pinned
    FROM buffer_archive WHERE id = new.id;
    DELETE FROM buffer_archive WHERE id = new.id;
    UPDATE restorations SET done = 1 WHERE seq = new.seq;
END;

-- The same guards for memories.
CREATE TRIGGER ledger_entries_guard_delete BEFORE DELETE ON ledger_entries
WHEN NOT EXISTS (
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
WHEN EXISTS (SELECT 1 FROM ledger_archive WHERE seq = new.seq OR id = new.id)
    AND NOT EXISTS (SELECT 1 FROM restorations WHERE kind = 'ledger' AND id = new.id AND done = 0)
BEGIN
    SELECT raise(ABORT, 'an archived memory may not be written again');
END;

CREATE TRIGGER ledger_entries_guard_update BEFORE UPDATE OF seq, id, owner_id ON ledger_entries
BEGIN
    SELECT raise(ABORT, 'a memory keeps its number, id and owner');
END;

CREATE TRIGGER ledger_archive_guard_insert BEFORE INSERT ON ledger_archive
WHEN new.into_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_entries WHERE id = new.into_id AND owner_id = new.owner_id)
BEGIN
    SELECT raise(ABORT, 'a memory can only go into one that is there');
END;

CREATE TRIGGER ledger_archive_guard_update BEFORE UPDATE ON ledger_archive
BEGIN
    SELECT raise(ABORT, 'the archive is never rewritten');
END;

CREATE TRIGGER ledger_archive_guard_delete BEFORE DELETE ON ledger_archive
WHEN NOT EXISTS (
    SELECT 1 FROM restorations AS back JOIN ledger_entries AS kept ON kept.id = back.id
    WHERE back.kind = 'ledger' AND back.id = old.id AND back.done = 0 AND kept.seq = old.seq AND kept.content = old.content
)
BEGIN
    SELECT raise(ABORT, 'the archive is never emptied');
END;

-- A restored memory counts as one by hand: no maintenance takes it away again.
CREATE TRIGGER restorations_ledger AFTER INSERT ON restorations WHEN new.kind = 'ledger'
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

-- Handoffs and compressions that wait for a person: one for each mind at the most.
INSERT INTO counters (name, value) VALUES ('prop', 0);

CREATE TABLE proposals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL UNIQUE REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    kind TEXT NOT NULL CHECK (kind IN ('handoff', 'compression')),
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    proposal_json TEXT NOT NULL CHECK (json_valid(proposal_json)),
    verdicts_json TEXT NOT NULL CHECK (json_valid(verdicts_json))
) STRICT;

-- When rounds began, and who went where in them.
CREATE TABLE rounds (
    round INTEGER PRIMARY KEY,
    started TEXT NOT NULL CHECK (length(started) = 19)
) STRICT;

CREATE TABLE moves (
    seq INTEGER PRIMARY KEY,
    round INTEGER NOT NULL,
    entity_id TEXT NOT NULL,
    from_place TEXT,
    to_place TEXT
) STRICT;

CREATE INDEX moves_by_round ON moves (round, seq);

CREATE TRIGGER objects_move AFTER UPDATE OF place_id ON objects WHEN new.place_id IS NOT old.place_id
BEGIN
    INSERT INTO moves (round, entity_id, from_place, to_place)
    VALUES ((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), new.id, old.place_id, new.place_id);
END;
