-- Lore that is known for a time only, that stays in mind once it has come there, and that rests before it comes again.
ALTER TABLE lore ADD COLUMN since TEXT;
ALTER TABLE lore ADD COLUMN until TEXT;
ALTER TABLE lore ADD COLUMN stays_minutes INTEGER NOT NULL DEFAULT 0 CHECK (stays_minutes >= 0);
ALTER TABLE lore ADD COLUMN rests_minutes INTEGER NOT NULL DEFAULT 0 CHECK (rests_minutes >= 0);

-- When such lore came to a mind.
CREATE TABLE lore_calls (
    owner_id TEXT NOT NULL REFERENCES objects (id) DEFERRABLE INITIALLY DEFERRED,
    lore_id TEXT NOT NULL REFERENCES lore (id) DEFERRABLE INITIALLY DEFERRED,
    called TEXT NOT NULL,
    round INTEGER NOT NULL,
    PRIMARY KEY (owner_id, lore_id, called)
) STRICT, WITHOUT ROWID;
