-- The word index, with the entries of each owner side by side. Its rowid is the owner's number shifted by 32 bits plus the entry's:
-- a search within a range of rowids reads the owner's stretch of each word's list and nothing of anybody else's.
DROP TRIGGER ledger_words_insert;
DROP TRIGGER ledger_words_delete;
DROP TRIGGER ledger_words_update;
DROP TABLE ledger_words;
DROP VIEW ledger_text;

CREATE VIEW ledger_text (number, plain) AS
SELECT owner.seq << 32 | entry.seq, entry.plain
FROM ledger_entries AS entry JOIN objects AS owner ON owner.id = entry.owner_id;

CREATE VIRTUAL TABLE ledger_words USING fts5 (
    plain, content = 'ledger_text', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2'
);

INSERT INTO ledger_words (ledger_words) VALUES ('rebuild');
INSERT INTO ledger_words (ledger_words) VALUES ('optimize');

CREATE TRIGGER ledger_words_insert AFTER INSERT ON ledger_entries
BEGIN
    SELECT raise(ABORT, 'a memory needs an owner that is there')
    WHERE NOT EXISTS (SELECT 1 FROM objects WHERE id = new.owner_id);
    INSERT INTO ledger_words (rowid, plain)
    VALUES ((SELECT seq FROM objects WHERE id = new.owner_id) << 32 | new.seq, new.plain);
END;

CREATE TRIGGER ledger_words_delete AFTER DELETE ON ledger_entries
BEGIN
    INSERT INTO ledger_words (ledger_words, rowid, plain)
    VALUES ('delete', (SELECT seq FROM objects WHERE id = old.owner_id) << 32 | old.seq, old.plain);
END;

CREATE TRIGGER ledger_words_update AFTER UPDATE OF plain ON ledger_entries
BEGIN
    INSERT INTO ledger_words (ledger_words, rowid, plain)
    VALUES ('delete', (SELECT seq FROM objects WHERE id = old.owner_id) << 32 | old.seq, old.plain);
    INSERT INTO ledger_words (rowid, plain)
    VALUES ((SELECT seq FROM objects WHERE id = new.owner_id) << 32 | new.seq, new.plain);
END;

-- The index stands on the owner's number.
CREATE TRIGGER objects_guard_number BEFORE UPDATE OF seq ON objects WHEN new.seq <> old.seq
BEGIN
    SELECT raise(ABORT, 'somebody keeps the number given');
END;

CREATE TRIGGER objects_guard_delete BEFORE DELETE ON objects
WHEN EXISTS (SELECT 1 FROM ledger_entries WHERE owner_id = old.id)
BEGIN
    SELECT raise(ABORT, 'somebody with memories may not go');
END;
