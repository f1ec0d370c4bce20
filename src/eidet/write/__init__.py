"""The write path: guard → shape → embed → analyse → weigh → label → deduplicate → write.

- write_path.py: all stages in order; the write itself, and the next version of a record
- shape.py: builds drafts from a caller's arguments and records from drafts
- ingest.py: embeds and analyses records; checks those of files; recomputes all vectors

The guard itself is `eidet.trust.privacy`; `WritePath.remember` lists all stages.
"""
