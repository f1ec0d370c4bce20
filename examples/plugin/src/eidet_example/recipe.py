"""A way to rank: what is new goes first, as long as it has to do with the question at all."""

from __future__ import annotations

from eidet.recall.recipes import Recipe

NEWEST = Recipe(name="newest", dense=0.2, words=0.4, recency=1.0, half_life_days=1.0, importance=0.0)
