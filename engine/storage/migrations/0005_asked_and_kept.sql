-- Why a session is being collapsed, so that a process that dies meanwhile goes on with the same reason; empty while it is not.
ALTER TABLE sessions ADD COLUMN asked TEXT NOT NULL DEFAULT ''
    CHECK (asked IN ('', 'inactivity', 'explicit', 'max_turns', 'max_tokens'));

-- Which version of a row somebody keeps who has left the faction: what it comes to say later is news that does not reach them.
ALTER TABLE knowledge_keepers ADD COLUMN version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1);
