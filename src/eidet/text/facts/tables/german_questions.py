"""German words of questions about facts."""

from __future__ import annotations

from typing import Final

from ..word_tables import read_mapping, words_of

WH: Final = words_of(
    "wo wohin woher wer wen wem was welche welcher welches welchen welchem wie wogegen womit worin"
)
PLACES: Final = words_of("wo wohin woher worin")
BE: Final = words_of("ist sind war waren bin")
HAVE: Final = words_of("hat habe haben hatte hatten")
PAST_AUXILIARIES: Final = words_of("war waren hatte hatten")
PREPOSITIONS: Final = words_of("in an bei für mit als gegen aus nach")
BEFORE: Final = words_of("früher vorher zuvor damals ehemals einst ursprünglich")
NOW: Final = words_of("jetzt heute derzeit aktuell momentan gerade noch inzwischen mittlerweile")
EVER: Final = words_of("jemals je")
FILLERS: Final = words_of(
    "denn eigentlich jetzt heute derzeit aktuell momentan gerade noch inzwischen mittlerweile früher vorher "
    "zuvor damals auch wohl schon immer gern gerne nicht mehr am liebsten alles jemals je von beruf "
    "ehemals einst ursprünglich"
)

# question words that have a preposition in them
WITH_PREPOSITION: Final = {"wogegen": "gegen", "womit": "mit", "woher": "aus", "worin": "in", "wohin": "nach"}

# "welche NOUN spricht sie?": the noun decides
NOUNS: Final = read_mapping("""
speaks: sprache, sprachen
plays: instrument, instrumente, sport, sportart
drives owns: auto, wagen
pet: haustier, haustiere
lives_in: stadt, ort, land
works_at: firma, unternehmen
works_as: beruf
allergic_to: allergie, allergien
medication: medikament, medikamente
hobby likes: hobby, hobbys
""")
# attributes that questions name otherwise than statements do
ATTRIBUTES: Final = read_mapping("""
lives_in: wohnort, adresse, stadt, zuhause
works_at: arbeitgeber, firma
works_as works_at: beruf, job
allergic_to: allergien, allergie
likes hobby: hobbys, hobby
speaks: sprachen, muttersprache
medication: medikamente
condition: krankheit
born_in: geburtsort
""")
HOW: Final = {"alt": "age", "groß": "height", "schwer": "weight"}
