"""English nouns: kin, animals, jobs, attributes, conditions, events, and what one asks an assistant to
do."""

from __future__ import annotations

from typing import Final

KIN: Final = """
married_to: wife husband spouse hubby
partner: partner girlfriend boyfriend gf bf fiancé fiancée fiance fiancee
former_partner: ex ex-wife ex-husband ex-girlfriend ex-boyfriend
child: son daughter kid kids child children sons daughters stepson stepdaughter baby toddler
parent: mother father mom mum mommy mummy dad daddy mama papa stepmother stepfather stepmom stepdad parents
sibling: sister brother sis bro sisters brothers twin half-brother half-sister stepbrother stepsister
sibling: siblings
grandparent: grandmother grandfather grandma grandpa granny grandparents nana grandad granddad
grandchild: grandson granddaughter grandkids grandchildren grandchild
aunt_or_uncle: aunt uncle auntie
niece_or_nephew: niece nephew nieces nephews
cousin: cousin cousins
parent_in_law: mother-in-law father-in-law
child_in_law: son-in-law daughter-in-law
sibling_in_law: brother-in-law sister-in-law
godparent: godmother godfather
godchild: godson goddaughter
friend: friend friends bestie buddy pal
colleague: colleague coworker co-worker teammate colleagues coworkers teammates
boss: boss manager supervisor
flatmate: roommate flatmate housemate roommates flatmates housemates
neighbour: neighbour neighbor neighbours neighbors
teacher: teacher tutor professor mentor coach
student: student students mentee
doctor: doctor dentist therapist gp physiotherapist psychologist
"""

PETS: Final = """
dog dogs cat cats puppy puppies kitten kittens rabbit rabbits hamster hamsters parrot parrots horse horses
pony fish goldfish turtle tortoise snake lizard pet pets bird birds budgie ferret gecko labrador poodle
retriever
beagle corgi pug chihuahua dachshund husky bulldog terrier spaniel shepherd dalmatian bunny
"""

JOBS: Final = """
accountant actor actress analyst animator architect artist attorney author baker banker barber barista
bartender
biologist builder butcher carpenter cashier chef chemist clerk cleaner composer consultant contractor cook
counselor counsellor dancer dentist designer developer dietitian director doctor driver economist editor
electrician engineer entrepreneur farmer firefighter freelancer gardener geologist hairdresser historian
illustrator instructor intern interpreter janitor journalist judge lawyer lecturer librarian lifeguard
machinist
manager mechanic midwife model musician nanny nurse nutritionist optician painter paramedic pastor
pediatrician
paediatrician pharmacist photographer physicist physiotherapist pianist pilot plumber poet police policeman
politician postman principal producer professor programmer psychiatrist psychologist radiologist realtor
receptionist recruiter researcher sailor salesman salesperson scientist secretary seamstress singer soldier
student streamer surgeon surveyor tailor teacher technician therapist translator tutor vet veterinarian
videographer violinist waiter waitress writer
youtuber ceo cto cfo founder co-founder cofounder dj tester administrator sysadmin devops barista paralegal
"""

ATTRIBUTES: Final = """
phone: phone number, phone, mobile, cell, cell number, mobile number, telephone number, number, telephone
email: email, e-mail, email address, mail, e-mail address
address: address, home address, street address
birthday: birthday, birthdate, date of birth, bday
name: name, full name, first name, last name, surname
nickname: nickname, pseudonym
age: age
works_as: job, profession, occupation, job title
from: hometown, home town
version: version, current version
status: status
owner: owner
deadline: deadline, due date
website: website, homepage, blog
time_zone: time zone, timezone
height: height
weight: weight
blood_type: blood type
pronouns: pronouns
nationality: nationality
religion: religion
hobby: hobby, hobbies
goal: goal, dream
budget: budget
studies: major
drives: car
"""

CONDITIONS: Final = """
asthma diabetes migraine migraines adhd add anxiety depression eczema epilepsy arthritis hypertension
ibs anemia
anaemia insomnia scoliosis celiac coeliac autism dyslexia ptsd ocd pcos endometriosis psoriasis cancer
tinnitus vertigo tendonitis bronchitis hypothyroidism osteoporosis gout fibromyalgia lupus crohn's
"""

EVENTS: Final = """
appointment: appointment, appointments, checkup, check-up, haircut, dentist, physio, surgery, vaccination
meeting: meeting, call, standup, sync, interview, one-on-one, 1:1, conference, workshop, demo
trip: trip, flight, vacation, holiday, cruise, honeymoon
event: wedding, concert, party, exam, recital, graduation, marathon, festival, reunion, gig, race
event: tournament
event: anniversary, funeral, ceremony, presentation, exhibition, test, match, show, performance, competition
"""

ACTIONS: Final = """
add address answer ask assume avoid book buy call change check cite commit confirm contact create
delete deploy
discuss email ensure explain format forward give greet highlight include interrupt keep limit list make
mention
message merge notify offer order output play print propose provide push put quote recommend refer
remind repeat
reply respond return review round run save schedule send share show sign speak start stick store submit
suggest summarise summarize tell test translate treat turn use wake warn write reference double-check
present assign invite charge plan
"""

STATES: Final = """
diet: vegetarian vegan pescatarian keto kosher halal teetotal vegetarians
relationship_status: single married divorced widowed engaged separated
job_status: retired unemployed self-employed freelancing
condition: pregnant diabetic asthmatic dyslexic celiac coeliac colour-blind color-blind deaf anemic anaemic
religion: muslim catholic christian jewish hindu buddhist atheist agnostic protestant mormon sikh
nationality: american british german french spanish portuguese italian irish scottish dutch belgian
nationality: swiss austrian
nationality: polish ukrainian russian swedish norwegian danish finnish greek turkish indian pakistani
nationality: chinese
nationality: japanese korean vietnamese thai mexican brazilian argentinian colombian chilean peruvian cuban
nationality: canadian australian nigerian ghanaian kenyan ethiopian egyptian moroccan israeli iranian
"""

VAGUE: Final = """
it that this way idea ideas sound look looks fact part thing things lot lots bit everything anything
something
nothing game games building ton hard seeing having making getting being doing taking going years months
weeks days hours
job myself home long others other rest most many some all one
ones time times kind sort day person people everyone
vibe vibes feeling stuff place life
"""

CLASSES: Final = """
language: english german french spanish portuguese italian dutch polish russian ukrainian swedish
language: norwegian danish
language: finnish greek turkish hindi urdu bengali mandarin cantonese chinese japanese korean
language: vietnamese thai arabic
language: hebrew farsi persian swahili catalan basque romanian hungarian czech latin esperanto tagalog
language: punjabi tamil
school: university college school institute academy kindergarten uni mit bootcamp
group: club team band choir gym group league society church orchestra union association guild brigade
group: program programme forum class community network board crew committee
group: squad
playable: piano guitar violin cello drums flute saxophone trumpet ukulele bass clarinet harp viola
playable: banjo harmonica
playable: tennis football soccer basketball baseball volleyball hockey golf rugby cricket badminton
playable: squash chess poker
playable: handball pickleball softball lacrosse snooker darts bridge games game d&d dungeons sports
playable: instrument keyboard
drug: insulin ibuprofen aspirin metformin paracetamol antidepressants medication medications meds
drug: medicine vitamins
drug: vitamin melatonin antihistamines antihistamine lisinopril sertraline prozac zoloft ritalin
drug: adderall statins
drug: omeprazole levothyroxine prednisone tylenol supplements magnesium iron antibiotics amoxicillin
drug: atorvastatin
drug: warfarin xanax gabapentin losartan ventolin inhaler pill pills beta-blockers creatine mg
food: gluten dairy meat sugar alcohol caffeine nuts peanuts pork shellfish lactose seafood carbs eggs
food: milk wheat soy
food: coffee bread beef fish onions garlic chicken cheese spicy sweets
business: shop store company business bakery studio restaurant café cafe agency blog podcast channel
business: startup farm
business: firm salon gym bar hotel workshop nonprofit charity foundation club newsletter school clinic
business: practice
vehicle: car bike bicycle motorcycle motorbike truck van scooter suv sedan hatchback jeep tesla toyota
vehicle: honda ford bmw
vehicle: audi volvo vw volkswagen electric
animal: dog cat puppy kitten rabbit hamster parrot horse bird turtle dogs cats puppies kittens rabbits
animal: greyhound
"""

JOB_VERBS: Final = """
ended: quit quitted left lost resigned leaving
began: got started landed accepted have has 've took began found
"""

AIMING: Final = """
goal: want wants hope hopes hoping aim aims dream dreaming
plan: plan plans planning intend intends
"""

AIMS: Final = """
learn move buy start open visit travel run write become adopt study quit build lose save launch finish
marry retire
apply go live work teach create join publish found sell switch climb volunteer record paint grow train
"""

GENERIC: Final = """
ocean sea beach outdoors mountains mountain rain sun snow theatre theater cinema piano guitar city
countryside gym zoo
park opera ballet internet water cold heat summer winter autumn spring fall stars moon woods forest
desert violin
"""
