-- Sessions with their turns, what they came to, and knowledge with its history.

INSERT INTO counters (name, value) VALUES ('ses', 0), ('turn', 0), ('col', 0), ('kno', 0), ('rev', 0), ('pro', 0);

CREATE TABLE sessions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    actor_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    status TEXT NOT NULL CHECK (status IN ('open', 'collapsing', 'collapsed', 'discarded')),
    promotion_state TEXT NOT NULL CHECK (promotion_state IN ('none', 'pending', 'extracted', 'skipped', 'failed')),
    started TEXT NOT NULL CHECK (length(started) = 19),
    started_round INTEGER NOT NULL CHECK (started_round >= 0),
    last_turn_at TEXT NOT NULL CHECK (length(last_turn_at) = 19),
    ended TEXT CHECK (ended IS NULL OR length(ended) = 19),
    ended_round INTEGER,
    policy_json TEXT NOT NULL CHECK (json_valid(policy_json)),
    scratch_json TEXT NOT NULL CHECK (json_valid(scratch_json)),
    tasks_json TEXT NOT NULL CHECK (json_valid(tasks_json)),
    entities_json TEXT NOT NULL CHECK (json_valid(entities_json)),
    decisions_json TEXT NOT NULL CHECK (json_valid(decisions_json)),
    parts INTEGER NOT NULL CHECK (parts >= 0)
) STRICT;

-- One open session of a pair at the most.
CREATE UNIQUE INDEX sessions_open ON sessions (agent_id, actor_id) WHERE status IN ('open', 'collapsing');
CREATE INDEX sessions_by_agent ON sessions (agent_id, seq);
CREATE INDEX sessions_by_status ON sessions (status, last_turn_at);

CREATE TABLE session_turns (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    role TEXT NOT NULL CHECK (role IN ('agent', 'actor', 'note')),
    speaker_id TEXT,
    content TEXT NOT NULL CHECK (content <> ''),
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    hint TEXT NOT NULL,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    round INTEGER NOT NULL CHECK (round >= 0),
    source_id TEXT
) STRICT;

CREATE INDEX session_turns_by_session ON session_turns (session_id, seq);

-- Collapses, whole and partial, also those that failed or asked no model. The summary outlives the turns.
CREATE TABLE session_summaries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    agent_id TEXT NOT NULL,
    part INTEGER NOT NULL CHECK (part >= 0),
    status TEXT NOT NULL CHECK (status IN ('committed', 'skipped', 'failed')),
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    run_json TEXT NOT NULL CHECK (json_valid(run_json))
) STRICT;

CREATE INDEX session_summaries_by_session ON session_summaries (session_id, seq);
CREATE UNIQUE INDEX session_summaries_once ON session_summaries (session_id, part) WHERE status <> 'failed';

-- The events that an ended session was made of: with `ledger_sources` they lead to the memories that are its episode.
CREATE TABLE session_sources (
    session_id TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    buffer_id TEXT NOT NULL,
    part INTEGER NOT NULL CHECK (part >= 0),
    round INTEGER NOT NULL CHECK (round >= 0),
    PRIMARY KEY (session_id, buffer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_sources_by_event ON session_sources (buffer_id);

CREATE TABLE knowledge (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    subject_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'decision', 'strategy')),
    content TEXT NOT NULL CHECK (content <> ''),
    plain TEXT NOT NULL,
    rationale TEXT NOT NULL,
    topic_key TEXT NOT NULL,
    term TEXT NOT NULL CHECK (term IN ('short', 'long')),
    scope TEXT NOT NULL CHECK (scope IN ('entity', 'faction', 'world')),
    scope_id TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    sensitivity TEXT NOT NULL CHECK (sensitivity IN ('plain', 'sensitive')),
    session_id TEXT,
    turns_json TEXT NOT NULL CHECK (json_valid(turns_json)),
    valid_from TEXT NOT NULL CHECK (length(valid_from) = 19),
    valid_to TEXT CHECK (valid_to IS NULL OR length(valid_to) = 19),
    supersedes TEXT,
    superseded_by TEXT,
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    authored INTEGER NOT NULL CHECK (authored IN (0, 1)),
    version INTEGER NOT NULL CHECK (version >= 1),
    created TEXT NOT NULL CHECK (length(created) = 19),
    created_round INTEGER NOT NULL,
    updated TEXT NOT NULL CHECK (length(updated) = 19),
    updated_round INTEGER NOT NULL,
    promoted_round INTEGER,
    retrieval_count INTEGER NOT NULL CHECK (retrieval_count >= 0),
    last_retrieved_at TEXT CHECK (last_retrieved_at IS NULL OR length(last_retrieved_at) = 19),
    activation REAL NOT NULL,
    strength REAL NOT NULL,
    tier TEXT NOT NULL CHECK (tier IN ('hot', 'warm', 'cold', 'archived')),
    CHECK (scope = 'world' OR scope_id <> '')
) STRICT;

-- The ways rows are asked for: by who holds them (inside the query, never after it), by topic, by what is to be promoted, by subject.
CREATE INDEX knowledge_by_scope ON knowledge (scope, scope_id, tier, seq) WHERE valid_to IS NULL;
CREATE INDEX knowledge_by_topic ON knowledge (scope, scope_id, topic_key) WHERE topic_key <> '';
CREATE INDEX knowledge_short ON knowledge (created, seq) WHERE term = 'short' AND valid_to IS NULL;
CREATE INDEX knowledge_by_subject ON knowledge (subject_id, seq);
CREATE INDEX knowledge_by_owner ON knowledge (owner_id, seq);

-- Rows of a faction that somebody keeps who has left it.
CREATE TABLE knowledge_keepers (
    entity_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    knowledge_id TEXT NOT NULL REFERENCES knowledge (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    round INTEGER NOT NULL,
    PRIMARY KEY (entity_id, knowledge_id)
) STRICT, WITHOUT ROWID;

-- Who joined and left which faction since the world began, so that it is known who held what at an earlier round.
CREATE TABLE faction_changes (
    seq INTEGER PRIMARY KEY,
    entity_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    faction TEXT NOT NULL,
    joined INTEGER NOT NULL CHECK (joined IN (0, 1)),
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19)
) STRICT;

CREATE TABLE promotion_runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    round INTEGER NOT NULL CHECK (round >= 0),
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    run_json TEXT NOT NULL CHECK (json_valid(run_json))
) STRICT;

-- Every row as it was before each change.
CREATE TABLE knowledge_versions (
    knowledge_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    row_json TEXT NOT NULL CHECK (json_valid(row_json)),
    replaced_round INTEGER NOT NULL,
    replaced TEXT NOT NULL CHECK (length(replaced) = 19),
    cause TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (knowledge_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE review_queue (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    knowledge_id TEXT NOT NULL UNIQUE REFERENCES knowledge (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    reason TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('entity', 'faction', 'world')),
    scope_id TEXT NOT NULL,
    round INTEGER NOT NULL,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19)
) STRICT;

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    round INTEGER NOT NULL,
    timestamp TEXT NOT NULL CHECK (length(timestamp) = 19),
    action TEXT NOT NULL,
    cause TEXT NOT NULL,
    owner_id TEXT,
    knowledge_id TEXT,
    session_id TEXT,
    run_id TEXT,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    why TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_knowledge ON audit (knowledge_id, seq) WHERE knowledge_id IS NOT NULL;
CREATE INDEX audit_by_session ON audit (session_id, seq) WHERE session_id IS NOT NULL;
CREATE INDEX audit_by_owner ON audit (owner_id, seq) WHERE owner_id IS NOT NULL;

-- The audit is only ever added to.
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never removed'); END;

-- A turn leaves only with a session that has ended, or by a partial collapse: then a summary of its part is there.
CREATE TRIGGER turns_kept BEFORE DELETE ON session_turns
WHEN NOT EXISTS (SELECT 1 FROM session_summaries WHERE session_id = old.session_id AND status <> 'failed')
    AND (SELECT status FROM sessions WHERE id = old.session_id) <> 'discarded'
BEGIN
    SELECT RAISE(ABORT, 'a turn leaves with a summary only');
END;

-- A vector of an older wording is no vector.
CREATE TRIGGER embeddings_knowledge_update AFTER UPDATE OF plain ON knowledge
WHEN new.plain <> old.plain
BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'knowledge' AND id = old.id;
END;

CREATE TRIGGER embeddings_knowledge_delete AFTER DELETE ON knowledge
BEGIN
    DELETE FROM embeddings WHERE owner_kind = 'knowledge' AND id = old.id;
END;
