"""English verbs and predicates: forms | ties | relation | object | marks (see `word_tables.Frame`)."""

from __future__ import annotations

from typing import Final

VERBS: Final = """
live lives lived living                       | in                  | lives_in       | place    | lived
reside resides resided residing               | in                  | lives_in       | place    | lived
move moves moved moving                       | to into back_to     | lives_in       | place    | change
relocate relocates relocated relocating       | to                  | lives_in       | place    | change
settle settles settled settling               | in down_in          | lives_in       | place    | change
emigrate emigrates emigrated emigrating       | to                  | lives_in       | place    | change
move moves moved moving                       | from out_of away_from| lives_in       | place    | end
come comes came/come coming                   | from                | from           | place    |
hail hails hailed hailing                     | from                | from           | place    |
grow grows grew/grown growing                 | up_in               | from           | place    | change
visit visits visited visiting                 |                     | visited        | place    | change
travel travels traveled traveling             | to                  | visited        | place    | change trip
travel travels travelled travelling           | to                  | visited        | place    | change trip
fly flies flew/flown flying                   | to                  | visited        | place    | change trip
go goes went/gone going                       | to                  | studies_at     | school   | habit
go goes went/gone going                       | to                  | visited        | place    | change trip
work works worked working                     | at for              | works_at       | org      | lived
work works worked working                     | as                  | works_as       | job      | lived
work works worked working | on | works_on | thing | progressive_only
join joins joined joining                     |                     | member_of      | group    | change
join joins joined joining                     |                     | works_at       | name     | change
start starts started starting                 | at working_at       | works_at       | org      | change
intern interns interned interning             | at for              | works_at       | org      | lived
quit quits quit quitting                      |                     | works_at       | name     | end unsure
leave leaves left leaving                     |                     | works_at       | name     | end unsure
resign resigns resigned resigning             | from                | works_at       | org      | end
retire retires retired retiring               | from                | works_at       | org      | end
teach teaches taught teaching                 |                     | teaches        | value    | lived
teach teaches taught teaching                 | at                  | works_at       | org      | lived
run runs ran/run running | | runs | business | habit
own owns owned owning                         |                     | owns           | thing    | lived
co-found founds founded founding | | runs | org | change
study studies studied studying                | at                  | studies_at     | org      | lived
attend attends attended attending             |                     | studies_at     | school   | lived
study studies studied studying                |                     | studies        | value    | lived
major majors majored majoring                 | in                  | studies        | value    | lived
graduate graduates graduated graduating       | from                | graduated_from | org      | change
learn learns learned/learnt learning          |                     | learns         | value    | progressive
learn learns learned/learnt learning | to | learns | value | progressive
volunteer volunteers volunteered volunteering | at with for         | volunteers_at  | org      | lived
belong belongs belonged belonging             | to                  | member_of      | org      | lived
marry marries married marrying                |                     | married_to     | person   | change
divorce divorces divorced divorcing           |                     | married_to     | person   | end
date dates dated dating                       |                     | partner        | person   | lived
see sees saw/seen seeing |  | partner | person | progressive_only
weigh weighs weighed weighing                 |                     | weight         | number   |
speak speaks spoke/spoken speaking            |                     | speaks         | language |
play plays played playing                     |                     | plays          | playable | habit
play plays played playing                     | for in              | member_of      | name     | lived
collect collects collected collecting         |                     | collects       | thing    | habit
like likes liked liking                       |                     | likes          | activity | taste
love loves loved loving                       |                     | likes          | activity | taste
enjoy enjoys enjoyed enjoying                 |                     | likes          | activity | taste
adore adores adored adoring                   |                     | likes          | activity | taste
prefer prefers preferred preferring           |                     | prefers        | activity | taste wish
hate hates hated hating                       |                     | dislikes       | activity | taste
dislike dislikes disliked disliking           |                     | dislikes       | activity | taste
detest detests detested detesting             |                     | dislikes       | activity | taste
loathe loathes loathed loathing               |                     | dislikes       | activity | taste
support supports supported supporting         |                     | fan_of         | name     | habit
eat eats ate/eaten eating                     |                     | does_not_eat   | thing    | only_not
drink drinks drank/drunk drinking             |                     | does_not_eat   | thing    | only_not
avoid avoids avoided avoiding                 |                     | does_not_eat   | food     | habit
take takes took/taken taking                  |                     | medication     | drug     | habit
smoke smokes smoked smoking                   |                     | smokes         | =tobacco | habit
drive drives drove/driven driving             |                     | drives         | vehicle  | lived
ride rides rode/ridden riding                 |                     | drives         | vehicle  | lived
buy buys bought buying                        |                     | owns           | thing    | change
purchase purchases purchased purchasing       |                     | owns           | thing    | change
inherit inherits inherited inheriting         |                     | owns           | thing    | change
sell sells sold selling                       |                     | owns           | thing    | end
rent rents rented renting                     |                     | rents          | thing    | habit
adopt adopts adopted adopting                 |                     | pet            | animal   | change
use uses used using                           |                     | uses           | thing    | thing habit
switch switches switched switching            | to                  | uses           | thing    | thing change
migrate migrates migrated migrating           | to                  | uses           | thing    | thing change
migrate migrates migrated migrating           | from off away_from  | uses           | thing    | thing end
switch switches switched switching            | from away_from      | uses           | thing    | thing end
depend depends depended depending | on | depends_on | component | only_thing
rely relies relied relying | on | depends_on | component | only_thing
require requires required requiring | | depends_on | name | only_thing
need needs needed needing                     |                     | depends_on     | name     | only_thing
run runs ran/run running                      | on                  | deployed_at    | name     | only_thing
cost costs cost costing                       |                     | costs          | number   | only_thing
manage manages managed managing               |                     | manages        | org      | lived
report reports reported reporting             | to                  | boss           | person   | lived
suffer suffers suffered suffering             | from                | condition      | value    | habit
break breaks broke/broken breaking            | up_with             | partner        | person   | end
get gets got getting                          | rid_of              | owns           | thing    | end
read reads read reading |  | reads | name | progressive_only
turn turns turned turning                     |                     | age            | age      | change
retire retires retired retiring               |                     | job_status     | =retired | change
divorce divorces divorced divorcing           |                     | relationship_status| =divorced| change
"""

PREDICATES: Final = """
from                                          |                     | from           | place    | lived
on                                            |                     | medication     | drug     |
due                                           | on by in next       | deadline       | date     | thing
born                                          | in                  | born_in        | place    | change
born                                          | in                  | birthday       | date     | change
born                                          | on                  | birthday       | date     | change
based                                         | in                  | lives_in       | place    |
married                                       | to                  | married_to     | person   |
engaged                                       | to                  | engaged_to     | person   |
divorced                                      | from                | former_partner | person   |
allergic                                      | to                  | allergic_to    | thing    |
intolerant                                    | to                  | allergic_to    | thing    |
afraid                                        | of                  | afraid_of      | activity |
scared                                        | of                  | afraid_of      | activity |
terrified                                     | of                  | afraid_of      | activity |
fond                                          | of                  | likes          | activity | taste
into                                          |                     | likes          | activity | taste
keen                                          | on                  | likes          | activity | taste
crazy                                         | about               | likes          | activity | taste
passionate                                    | about               | likes          | activity | taste
obsessed                                      | with                | likes          | activity | taste
interested                                    | in                  | likes          | activity | taste
fluent                                        | in                  | speaks         | language |
good                                          | at                  | skill          | activity |
called                                        |                     | name           | name     |
named                                         |                     | name           | name     |
nicknamed                                     |                     | nickname       | name     |
employed                                      | by at               | works_at       | org      |
enrolled                                      | at in               | studies_at     | org      |
written                                       | in                  | written_in     | thing    | thing
built                                         | with in on          | uses           | thing    | thing
deployed                                      | on to at in         | deployed_at    | thing    | thing
hosted                                        | on at by in         | deployed_at    | thing    | thing
running                                       | on                  | deployed_at    | thing    | thing
stored                                        | in on at            | stored_in      | thing    | thing
located                                       | in                  | located_in     | place    | thing
owned                                         | by                  | owner          | person   | thing
maintained                                    | by                  | owner          | person   | thing
replaced                                      | by with             | replaced_by    | thing    | thing change
diagnosed                                     | with                | condition      | value    | change
"""
