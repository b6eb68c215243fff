-- The first schema of a save: a world, minds with two tiers of memory, and the story as it was told.
-- Times are world time, ISO text of 19 characters, so that text order is time order. `seq` orders rows of one moment.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers behind ids. A row per kind of id, so that a number is never given twice, also after rows have gone.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL CHECK (value >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES ('buf', 0), ('led', 0), ('run', 0);

CREATE TABLE places (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    attributes_json TEXT NOT NULL CHECK (json_valid(attributes_json)),
    position_json TEXT CHECK (position_json IS NULL OR json_valid(position_json))
) STRICT;

CREATE TABLE objects (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent INTEGER NOT NULL CHECK (agent IN (0, 1)),
    place_id TEXT REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    holder_id TEXT REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    sort_order INTEGER NOT NULL,
    factions_json TEXT NOT NULL CHECK (json_valid(factions_json)),
    goals_json TEXT NOT NULL CHECK (json_valid(goals_json)),
    habits_json TEXT NOT NULL CHECK (json_valid(habits_json)),
    voice_json TEXT NOT NULL CHECK (json_valid(voice_json)),
    attributes_json TEXT NOT NULL CHECK (json_valid(attributes_json)),
    aliases_json TEXT NOT NULL CHECK (json_valid(aliases_json))
) STRICT;

CREATE TABLE portals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    a TEXT NOT NULL REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    b TEXT NOT NULL REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    one_way INTEGER NOT NULL CHECK (one_way IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'locked')),
    vision INTEGER NOT NULL CHECK (vision BETWEEN 0 AND 10),
    sound INTEGER NOT NULL CHECK (sound BETWEEN 0 AND 10),
    vision_other INTEGER NOT NULL CHECK (vision_other BETWEEN 0 AND 10),
    sound_other INTEGER NOT NULL CHECK (sound_other BETWEEN 0 AND 10),
    key_id TEXT REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE TABLE lore (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    keys_json TEXT NOT NULL CHECK (json_valid(keys_json)),
    constant INTEGER NOT NULL CHECK (constant IN (0, 1)),
    scope TEXT NOT NULL CHECK (scope IN ('world', 'faction', 'entity')),
    holders_json TEXT NOT NULL CHECK (json_valid(holders_json))
) STRICT;

CREATE TABLE handoff_runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    cause TEXT NOT NULL CHECK (cause IN ('none', 'voluntary', 'involuntary')),
    reason TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('committed', 'failed')),
    error TEXT NOT NULL,
    candidates_json TEXT NOT NULL CHECK (json_valid(candidates_json)),
    prompt TEXT NOT NULL,
    reply TEXT NOT NULL,
    model TEXT NOT NULL,
    template TEXT NOT NULL,
    notes_json TEXT NOT NULL CHECK (json_valid(notes_json)),
    added INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    promoted INTEGER NOT NULL,
    forgotten INTEGER NOT NULL,
    pinned INTEGER NOT NULL
) STRICT;

CREATE INDEX handoff_runs_by_owner ON handoff_runs (owner_id, seq);

-- Wall-clock times. The only table in which two runs of one world may differ.
CREATE TABLE run_log (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES handoff_runs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    seconds REAL NOT NULL
) STRICT;

CREATE INDEX run_log_by_run ON run_log (run_id);

CREATE TABLE buffer_entries (
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
    pinned TEXT NOT NULL CHECK (pinned IN ('none', 'model', 'hand'))
) STRICT;

CREATE INDEX buffer_entries_by_owner ON buffer_entries (owner_id, timestamp, seq);

-- `plain` is content and quotes without reference tokens: what the word index holds.
CREATE TABLE ledger_entries (
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
    plain TEXT NOT NULL
) STRICT;

CREATE INDEX ledger_entries_by_owner ON ledger_entries (owner_id);
CREATE INDEX ledger_entries_by_time ON ledger_entries (owner_id, timestamp);
CREATE INDEX ledger_entries_by_place ON ledger_entries (owner_id, location_id, timestamp);
CREATE INDEX ledger_entries_grave ON ledger_entries (owner_id, timestamp) WHERE importance >= 8;

-- The people of each ledger entry, keyed for the question "newest of this owner with that entity".
-- Kept by triggers from `involved_json`, so that the two cannot disagree.
CREATE TABLE ledger_involved_entities (
    owner_id TEXT NOT NULL,
    entity_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    timestamp TEXT NOT NULL,
    entry_seq INTEGER NOT NULL,
    entry_id TEXT NOT NULL REFERENCES ledger_entries (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (owner_id, entity_id, timestamp, entry_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_involved_by_entry ON ledger_involved_entities (entry_id);

CREATE TRIGGER ledger_involved_insert AFTER INSERT ON ledger_entries
BEGIN
    INSERT INTO ledger_involved_entities (owner_id, entity_id, timestamp, entry_seq, entry_id)
    SELECT DISTINCT new.owner_id, value, new.timestamp, new.seq, new.id FROM json_each(new.involved_json);
END;

CREATE TRIGGER ledger_involved_update AFTER UPDATE OF seq, id, owner_id, timestamp, involved_json ON ledger_entries
BEGIN
    DELETE FROM ledger_involved_entities WHERE entry_id = old.id;
    INSERT INTO ledger_involved_entities (owner_id, entity_id, timestamp, entry_seq, entry_id)
    SELECT DISTINCT new.owner_id, value, new.timestamp, new.seq, new.id FROM json_each(new.involved_json);
END;

-- Words of the ledger. The owner is a token of its own ('o', hex of the id, '0': the final digit keeps the stemmer off it),
-- so that a search never leaves the owner's entries.
CREATE VIEW ledger_text (seq, owner, plain) AS
SELECT seq, 'o' || hex(owner_id) || '0', plain FROM ledger_entries;

CREATE VIRTUAL TABLE ledger_words USING fts5 (
    owner, plain, content = 'ledger_text', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER ledger_words_insert AFTER INSERT ON ledger_entries
BEGIN
    INSERT INTO ledger_words (rowid, owner, plain) VALUES (new.seq, 'o' || hex(new.owner_id) || '0', new.plain);
END;

CREATE TRIGGER ledger_words_delete AFTER DELETE ON ledger_entries
BEGIN
    INSERT INTO ledger_words (ledger_words, rowid, owner, plain)
    VALUES ('delete', old.seq, 'o' || hex(old.owner_id) || '0', old.plain);
END;

CREATE TRIGGER ledger_words_update AFTER UPDATE OF seq, owner_id, plain ON ledger_entries
BEGIN
    INSERT INTO ledger_words (ledger_words, rowid, owner, plain)
    VALUES ('delete', old.seq, 'o' || hex(old.owner_id) || '0', old.plain);
    INSERT INTO ledger_words (rowid, owner, plain) VALUES (new.seq, 'o' || hex(new.owner_id) || '0', new.plain);
END;

-- Which events a ledger entry was made of. Events stay named here when they leave the buffer for the archive.
CREATE TABLE ledger_sources (
    buffer_id TEXT NOT NULL,
    ledger_id TEXT NOT NULL REFERENCES ledger_entries (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (buffer_id, ledger_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_sources_by_entry ON ledger_sources (ledger_id, buffer_id);

CREATE TABLE buffer_archive (
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
    ledger_id TEXT REFERENCES ledger_entries (id) DEFERRABLE INITIALLY DEFERRED,
    CHECK ((fate = 'promoted') = (ledger_id IS NOT NULL))
) STRICT;

CREATE INDEX buffer_archive_by_owner ON buffer_archive (owner_id, timestamp, seq);
CREATE INDEX buffer_archive_by_run ON buffer_archive (run_id);
CREATE INDEX buffer_archive_by_ledger ON buffer_archive (ledger_id) WHERE ledger_id IS NOT NULL;

-- Guards: no event is lost, doubled or swapped for another, whatever the code above does wrong.
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
BEGIN
    SELECT raise(ABORT, 'an archived buffer entry may not be written again');
END;

CREATE TRIGGER buffer_entries_guard_update BEFORE UPDATE OF seq, id, owner_id ON buffer_entries
BEGIN
    SELECT raise(ABORT, 'a buffer entry keeps its number, id and owner');
END;

CREATE TRIGGER buffer_archive_guard_delete BEFORE DELETE ON buffer_archive
BEGIN
    SELECT raise(ABORT, 'the archive is never emptied');
END;

CREATE TRIGGER buffer_archive_guard_update BEFORE UPDATE ON buffer_archive
BEGIN
    SELECT raise(ABORT, 'the archive is never rewritten');
END;

-- Vectors, apart from the rows they belong to. `owner_kind` and `id` say which row that is.
CREATE TABLE embeddings (
    seq INTEGER PRIMARY KEY,
    owner_kind TEXT NOT NULL,
    id TEXT NOT NULL,
    model TEXT NOT NULL,
    dim INTEGER NOT NULL CHECK (dim > 0),
    vector BLOB NOT NULL,
    UNIQUE (owner_kind, id, model),
    CHECK (length(vector) = 4 * dim)
) STRICT;

-- A vector of an older wording is no vector: the entry counts as not yet embedded.
CREATE TRIGGER embeddings_ledger_update AFTER UPDATE OF plain ON ledger_entries
WHEN new.plain <> old.plain
BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'ledger' AND id = old.id;
END;

CREATE TRIGGER embeddings_ledger_delete AFTER DELETE ON ledger_entries
BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'ledger' AND id = old.id;
END;

CREATE TABLE alias_changes (
    seq INTEGER PRIMARY KEY,
    viewer_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    target_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    old TEXT,
    new TEXT,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    round INTEGER NOT NULL CHECK (round >= 0),
    cause TEXT NOT NULL CHECK (cause IN ('authored', 'label', 'introduction', 'overheard', 'model', 'by hand')),
    evidence TEXT
) STRICT;

CREATE INDEX alias_changes_by_pair ON alias_changes (viewer_id, target_id, seq);

CREATE TABLE beats (
    seq INTEGER PRIMARY KEY,
    round INTEGER NOT NULL CHECK (round >= 0),
    entity_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    prose TEXT NOT NULL,
    template TEXT NOT NULL
) STRICT;

CREATE TABLE happenings (
    seq INTEGER PRIMARY KEY,
    beat INTEGER NOT NULL REFERENCES beats (seq) DEFERRABLE INITIALLY DEFERRED,
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    place_id TEXT REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
    actor_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    kind TEXT NOT NULL CHECK (kind IN ('dialogue', 'action', 'monologue')),
    intent_json TEXT NOT NULL CHECK (json_valid(intent_json)),
    outcome_json TEXT CHECK (outcome_json IS NULL OR json_valid(outcome_json))
) STRICT;

CREATE INDEX happenings_by_beat ON happenings (beat);
CREATE INDEX happenings_outward ON happenings (actor_id, round) WHERE kind <> 'monologue';
