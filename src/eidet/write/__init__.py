"""The write path: guard → shape → embed → analyse → weigh → mark echoes → label → deduplicate → write.

- write_path.py: all stages, in their order
- shape.py: drafts from whatever a caller gives
- ingest.py: records from drafts, embedded and analysed
- echoes.py: texts that only repeat what was just recalled
- put.py: the write itself
- renewed_facts.py: facts that are said again after they had ended
- revise.py: the next version of a record
- reembed.py: all vectors or terms made anew

The guard itself is `eidet.trust.privacy`; `WritePath.remember` is the list of all stages.
"""

from __future__ import annotations

from .echoes import EchoGuard
from .ingest import Ingest, analyse_record, embed_units
from .shape import Given, drafts_of, text_said, texts_of
from .write_path import WritePath

__all__ = [
    "EchoGuard",
    "Given",
    "Ingest",
    "WritePath",
    "analyse_record",
    "drafts_of",
    "embed_units",
    "text_said",
    "texts_of",
]
