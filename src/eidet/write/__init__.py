"""The write path: guard → shape → embed → analyse → weigh → label → deduplicate → write.

- write_path.py: all stages, in their order; the write itself, and the next version of a record
- shape.py: drafts from whatever a caller gives
- ingest.py: records from drafts, embedded and analysed; those of files checked, all vectors made anew

The guard itself is `eidet.trust.privacy`; `WritePath.remember` is the list of all stages.
"""
