-- The first tables: records and their history, settings, vectors of a new embedder, tallies, tombstones.
-- Each dialect has its own types for those in braces. Statements end with a semicolon at the end of a line.

CREATE TABLE records (
    seq {seq} NOT NULL,
    id TEXT NOT NULL,
    scope {name} NOT NULL,
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
    vector {bytes},
    terms {bytes} NOT NULL,
    level INTEGER NOT NULL,
    original {bytes},
    derived_from TEXT,
    trust TEXT DEFAULT 'user' NOT NULL,
    sealed {bytes},
    version INTEGER NOT NULL,
    x FLOAT,
    y FLOAT,
    z FLOAT,
    exact_key {bytes} NOT NULL,
    PRIMARY KEY (seq)
);

CREATE UNIQUE INDEX records_by_id ON records (scope, id);

CREATE INDEX records_by_seq ON records (scope, seq);

CREATE INDEX records_by_key ON records (exact_key) WHERE kind IN ('fact', 'document', 'procedure');

CREATE TABLE events (
    seq {seq} NOT NULL,
    scope {name} NOT NULL,
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
    name {name} NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE vectors_next (
    seq {seq} NOT NULL,
    vector {bytes},
    PRIMARY KEY (seq)
);

CREATE TABLE tallies (
    scope {name} NOT NULL,
    day INTEGER NOT NULL,
    what {name} NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (scope, day, what)
);

CREATE INDEX records_by_derivation ON records (scope) WHERE derived_from IS NOT NULL;

CREATE TABLE tombstones (
    scope {name} NOT NULL,
    mark {bytes} NOT NULL,
    moment FLOAT NOT NULL,
    PRIMARY KEY (scope, mark)
);
