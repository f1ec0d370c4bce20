-- The tables of a new SQLite file: what the migrations of revision 0001 come to, without Alembic.
-- A test keeps this file equal to them. Statements end with a semicolon at the end of a line.

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE records (
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    scope TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    tier TEXT NOT NULL,
    data TEXT,
    who TEXT,
    agent TEXT,
    session TEXT,
    step BIGINT,
    importance FLOAT NOT NULL,
    created FLOAT NOT NULL,
    occurred FLOAT NOT NULL,
    uses INTEGER NOT NULL,
    last_used FLOAT,
    expires FLOAT,
    source TEXT,
    meta TEXT,
    state TEXT,
    vector BLOB,
    terms BLOB NOT NULL,
    level INTEGER NOT NULL,
    original BLOB,
    derived_from TEXT,
    trust TEXT DEFAULT 'user' NOT NULL,
    sealed BLOB,
    version INTEGER NOT NULL,
    x FLOAT,
    y FLOAT,
    z FLOAT,
    exact_key BLOB NOT NULL,
    PRIMARY KEY (seq)
);

CREATE UNIQUE INDEX records_by_id ON records (scope, id);

CREATE INDEX records_by_seq ON records (scope, seq);

CREATE INDEX records_by_key ON records (exact_key) WHERE kind IN ('fact', 'document', 'procedure');

CREATE TABLE events (
    seq INTEGER NOT NULL,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    what TEXT NOT NULL,
    moment FLOAT NOT NULL,
    actor TEXT,
    version INTEGER NOT NULL,
    gone BIGINT,
    born FLOAT NOT NULL,
    author TEXT,
    earlier TEXT,
    PRIMARY KEY (seq)
);

CREATE INDEX events_by_id ON events (scope, id, seq);

CREATE INDEX events_by_seq ON events (scope, seq);

CREATE TABLE settings (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE vectors_next (
    seq INTEGER NOT NULL,
    vector BLOB,
    PRIMARY KEY (seq)
);

CREATE TABLE tallies (
    scope TEXT NOT NULL,
    day INTEGER NOT NULL,
    what TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (scope, day, what)
);

CREATE INDEX records_by_derivation ON records (scope) WHERE derived_from IS NOT NULL;

CREATE TABLE tombstones (
    scope TEXT NOT NULL,
    mark BLOB NOT NULL,
    moment FLOAT NOT NULL,
    PRIMARY KEY (scope, mark)
);
