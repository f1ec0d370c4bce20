"""English words of questions about facts."""

from __future__ import annotations

from typing import Final

from ..word_tables import read_mapping, words_of

WH: Final = words_of("where who whom whose what which when how since")
AUXILIARIES: Final = words_of(
    "do does did is are was were 's 're has have had will am 'm can could 've would 'd 'll should wo ca"
)
PAST_AUXILIARIES: Final = words_of("did was were had")
BEFORE: Final = words_of("before previously formerly earlier former previous ex prior originally")
NOW: Final = words_of("now currently still nowadays presently these today anymore current right")
EVER: Final = words_of("ever")
FILLERS: Final = words_of(
    "still currently now ever actually really also already usually again previously formerly originally not "
    "n't even just always been being"
)

# what a question's verb asks for, beside the frames of statements: word or two words, and the relations
VERBS: Final = read_mapping("""
works_as works_at: do, do for a living, do for work, earn
studies_at graduated_from: go to school, go to college, go to university
phone email: reach, contact, get in touch with, call, phone
lives_in: stay, move, moving, staying, living, live, home
child: have children, have kids
pet: have pets
likes: enjoy, like, love
trip visited: travel, go, going, traveling, travelling, visit
works_at: employed, working, work
birthday: born
""")

# "what/which NOUN does she …": the noun decides
NOUNS: Final = read_mapping("""
speaks: language, languages
plays: instrument, instruments, sport, sports, game, games
drives owns: car, vehicle, bike
pet: pet, pets, animal, animals, dog, cat
lives_in: city, town, country, place
works_at: company, employer, firm
studies_at graduated_from: school, university, college
works_as: job, profession, occupation
condition: condition, conditions, illness, health
allergic_to: allergies, allergy
medication: medication, medications, medicine, meds, drug, drugs
hobby likes: hobby, hobbies
diet does_not_eat: diet
deadline: deadline, due
version: version
status: status
child: children, kids, child
sibling: siblings
""")

# after "how": old, tall
HOW: Final = {"old": "age", "tall": "height", "heavy": "weight"}

# attributes that questions name otherwise than statements do
ATTRIBUTES: Final = read_mapping("""
lives_in: home, residence, place of residence, city, town, country, location, home city
works_at: employer, company, workplace, work, firm
works_as works_at: job, occupation, profession
allergic_to: allergies, allergy
likes hobby: hobbies, hobby, interests, likes
dislikes: dislikes
pet: pet, pets
speaks: languages, language
medication: medication, medications, meds, medicine
condition: condition, conditions, illness
diet: diet
goal: goal, goals, dream, dreams
plan: plans, plan
drives: car, vehicle
owns: possessions
phone: contact number, number
studies: major, degree, subject
studies_at: school, university, college
child: children, kids
sibling: siblings
uses: stack, tech stack, tools, database
depends_on: dependencies
deployed_at: deployment
member_of: club, team
born_in: birthplace, place of birth
prefers: preference, preferences
trip: trips, trip
""")
