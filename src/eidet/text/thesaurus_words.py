"""Words of everyday English that stand for each other. Data of `thesaurus.py`.

`FORMS` are forms of one word that no stemmer brings together. A line of `GROUPS` has words of one meaning,
then, after a colon, words that are a kind of it or tell of it: a dog answers who asks for an animal.
"""

from __future__ import annotations

from typing import Final

FORMS: Final = """
arise arose arisen
bear bore born borne
become became
begin began begun
bend bent
bind bound
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
child children
choose chose chosen
come came
creep crept
deal dealt
die dead death died
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown flight
foot feet
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
give gave given
go went gone
goose geese
grow grew grown growth
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lay laid
lead led
learn learnt
leave left
lend lent
lie lay lain
life lives live
light lit
lose lost loss
man men
make made
mean meant
meet met meeting
mouse mice
pay paid payment
person people
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold sale
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show showed shown
shrink shrank shrunk
shut closed
sing sang sung song
sink sank sunk
sit sat
sleep slept
slide slid
sow sowed sown
speak spoke spoken speech
spell spelt
spend spent
spill spilt
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
tooth teeth
understand understood
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
wind wound
woman women
write wrote written
weigh weight
high height
long length
deep depth
wide width
strong strength
choice choose
grandpa grandfather granddad
grandma grandmother granny
mum mom mother mummy
dad father daddy
fridge refrigerator
phone telephone
tv television telly
bike bicycle
exam examination
photo photograph
flu influenza
ad advert advertisement
lab laboratory
gym gymnasium
maths mathematics
vet veterinarian
plane aeroplane airplane
"""

GROUPS: Final = """
animal pet: dog cat puppy kitten horse pony cow bull calf goat sheep lamb pig hen chicken rooster duck goose
 bird parrot canary budgie pigeon owl eagle fish goldfish rabbit hamster mouse rat gerbil ferret tortoise
 turtle snake lizard frog spider bee wasp hedgehog squirrel fox wolf bear deer donkey mule alpaca llama
 monkey breed vet leash fur paw aquarium stable kennel cage
music song sing concert listen: band orchestra choir album record playlist jazz rock pop blues punk metal
 folk techno classical opera rap reggae soul symphony sonata melody tune singer composer gig festival vinyl
 hum
instrument: piano violin guitar cello flute drum trumpet clarinet saxophone harp organ accordion oboe bass
 viola banjo ukulele trombone harmonica keyboard tuba bassoon lute
sport train exercise workout: football soccer tennis basketball volleyball handball hockey golf rugby
 cricket baseball badminton swim run jog cycle row climb ski snowboard skate surf sail dive box judo karate
 yoga pilates gym fitness marathon match team club league coach ride dance
hobby pastime leisure: collect knit sew paint draw garden fish photograph chess puzzle pottery carve bake
 hike origami crochet embroider woodwork geocache birdwatch model stamp
food eat meal dish diet taste: breakfast lunch dinner supper snack bread cheese meat beef pork chicken fish
 rice pasta noodle potato soup salad vegetable fruit egg pizza burger sausage cake pie curry stew sandwich
 sushi taco yogurt butter honey nut chocolate dessert cook recipe restaurant vegan vegetarian bake fry boil
 grill spicy salty sweet
fruit: apple pear banana orange lemon lime grape grapefruit cherry plum peach apricot strawberry raspberry
 blueberry mango kiwi melon pineapple fig date berry currant nectarine pomegranate
vegetable: carrot potato tomato onion garlic cabbage spinach lettuce pea bean leek pepper cucumber pumpkin
 courgette zucchini aubergine broccoli cauliflower radish beetroot celery asparagus turnip kale sprout
dairy: milk cheese butter cream yogurt yoghurt lactose curd
drink beverage: water coffee tea beer wine juice milk cocoa lemonade soda cola whisky vodka gin rum cider
 smoothie espresso cappuccino latte cocktail champagne cup glass
allergy allergic intolerant tolerate: nut peanut hazelnut almond pollen hay lactose gluten milk egg
 shellfish seafood penicillin sting rash hive swell react reaction itch sneeze asthma dust fur
illness ill disease sick health condition suffer: flu cold cough fever cancer diabetes asthma gout arthritis
 migraine headache infection virus pneumonia stroke allergy rash depression anaemia epilepsy diagnosis
 symptom hospital pain ache chronic thyroid cholesterol pressure
injury injure hurt wound: broke fracture sprain plaster cast bruise burn cut stitch bone wrist ankle knee
 rib crutch bandage concussion ligament
operation surgery operate surgeon: appendix tonsil knee hip hernia cataract gall hospital ward anaesthetic
 scar transplant remove
medicine medication drug pill: tablet antibiotic penicillin aspirin ibuprofen paracetamol insulin syrup drop
 ointment inhaler dose prescription pharmacy vaccine injection cream
doctor physician: dentist surgeon specialist clinic hospital practice gp paediatrician dermatologist
 optician cardiologist physiotherapist appointment patient nurse therapist checkup
checkup screening medical: test examination blood xray scan dentist optician vaccination eye hearing doctor
job work profession occupation living career employ employer: teacher nurse doctor engineer lawyer cook chef
 baker driver pilot plumber carpenter electrician farmer waiter clerk manager accountant programmer
 developer designer architect journalist librarian hairdresser mechanic painter photographer police soldier
 firefighter secretary scientist consultant salesman cashier butcher gardener translator judge captain
 sailor office company firm shift salary boss colleague staff apprentice intern freelance retire
colleague coworker: team desk office boss manager workmate assistant intern
resign quit: notice leave fired job dismissed
live home address reside residence: flat apartment house street road lane avenue floor villa cottage studio
 neighbourhood district suburb village town city move rent landlord lodge dormitory roommate flatmate share
 upstairs downstairs attic
rent: landlord tenant lease deposit flat apartment monthly
neighbour: next door upstairs downstairs street
family relative: mother father parent brother sister son daughter uncle aunt cousin grandfather grandmother
 nephew niece husband wife grandson granddaughter twin sibling stepmother stepfather inlaw
wife husband spouse partner married marry wedding: bride groom honeymoon ring fiance fiancee engaged divorce
 anniversary couple
child kid baby: son daughter toddler boy girl newborn twin kindergarten nursery infant
girl: daughter she niece sister
boy: son he nephew brother
custody: divorce separated children week weekend
birthday born birth age old: turn party cake candle year
present gift: voucher book watch flower perfume ring toy box necklace wrap give
holiday vacation travel trip journey: beach island mountain hotel camp tent cruise flight tour coast lake
 sea hike abroad ferry suitcase resort hostel cabin backpack sightseeing airport surf ski train
school study university college class: degree student pupil teacher lesson exam grade course major semester
 lecture campus professor thesis graduate kindergarten law medicine physics chemistry biology history
 mathematics economics philosophy literature
language speak: english german french spanish italian portuguese dutch russian chinese japanese arabic
 polish norwegian swedish danish greek turkish korean finnish hindi dialect accent fluent bilingual
 translate interpreter
colour color: red blue green yellow white black brown grey gray orange purple pink violet beige turquoise
 dark light blond
car vehicle drive: fiat volvo toyota ford renault bmw audi tesla honda skoda van truck lorry bus motorcycle
 scooter bike wheel tyre brake engine garage petrol diesel electric driver licence park
commute: train bus tram bike walk car subway metro ferry drive cycle
seat: aisle window row middle front chair
clothes wear clothing outfit: shirt trousers jeans dress skirt coat jacket sweater jumper hat cap scarf
 glove shoe boot sock suit tie blouse size
shoe feet: boot sandal sneaker trainer slipper size heel
furniture: sofa chair table desk bed shelf cupboard wardrobe drawer lamp stool bookcase couch armchair
tool: hammer drill saw screwdriver spanner wrench pliers ladder axe
plant garden gardening: sow seed flower tree bush hedge lawn tomato tulip rose bulb soil compost harvest
 grow bloom pot prune greenhouse bed
tree: oak birch pine fir beech maple willow apple cherry spruce elm ash
flower: rose tulip lily daisy sunflower orchid daffodil bouquet bloom
book read reading novel: author story chapter library thriller poem biography fiction page paperback writer
film movie cinema watch: director actor actress scene documentary comedy thriller western screen series
 episode
game play: chess cards poker board puzzle dice console video
weather: rain snow sun wind storm cloud fog frost hail thunder cold warm hot sunny
flood: water cellar storm basement burst pipe leak
fear afraid scared phobia: terrified frighten panic dread nightmare anxious heights spider
like love enjoy favourite favorite fond prefer keen into: adore mad crazy fan enthusiastic passion rather
 best delight addicted fancy obsessed
dislike hate detest loathe: stand bear avoid mind never against sick annoy allergic refuse cannot awful
avoid refuse forbidden: never without stop abstain stay
want wish desire: would hope rather like plan dream
need require: must necessary have should
recommend advice advise suggest recommendation tip: should try best
help assist support: ask aid advice hand
expert know knowledge skill good: ask specialist experienced professional trained master guru able
buy purchase acquire: shop store price cost paid order euro dollar pound receipt bargain bought got new
sell: buyer price auction market deal
shop store: supermarket market bakery butcher grocer fishmonger mall boutique kiosk pharmacy bookshop buy
cost price expensive cheap pay charge fee: euro dollar pound cent bill invoice fine rent amount total free
 discount
money finance financial: cash euro dollar pound bank account saving salary loan debt budget credit fund
 wallet
invest investment: fund share stock bond saving index portfolio crypto etf
steal thief rob robbery theft burglar: wallet vanish stolen police break pickpocket missing gone
lose lost missing: gone vanish misplaced find
insurance: policy premium claim cover insurer liability
contract agreement: sign cancel terminate notice clause end
deliver delivery: parcel package courier box arrive order shipment post letter
ship send: parcel tracking post mail courier package
letter mail post: envelope stamp email postcard
meeting appointment: agenda minutes calendar schedule conference call
celebrate party: birthday anniversary wedding guest invite cake toast festival
church: christening wedding baptism mass priest chapel cathedral
photo picture image: camera album snapshot portrait shot film
noise noisy loud: drum shout scream music bark hammer drill upstairs party
repair fix mend: broken replace plumber mechanic patch leak glue
broken defect fault: crack leak fail repair damage stuck
clean tidy wash: dust vacuum mop sweep laundry ironing iron scrub polish dishes window
household chore housework: clean ironing iron wash vacuum laundry dishes cook window rubbish dust
sleep insomnia asleep: bed night wake nap tired dream pillow snore awake
smoke: cigarette cigar pipe tobacco vape
religion: catholic protestant muslim jewish buddhist hindu atheist church mosque temple synagogue
political politics: party vote election parliament mayor minister
wild: hedgehog fox deer squirrel wolf boar owl
hair: beard moustache blond curly bald shave haircut dye barber braid
look appearance: hair tall short beard glasses eyes blond
glasses: lens optician spectacles sight
eye: glasses lens optician sight vision
key: lock door spare
house building: roof cellar basement attic floor wall door window stairs kitchen
kitchen: oven stove fridge sink dishwasher
toilet bathroom: shower bath tap sink
floor: carpet wood tile parquet
hot warm heat temperature: degrees celsius oven heating thermostat fahrenheit
cold: degrees winter frost freeze
heavy weight weigh: kilo kilos kg gram pound ton scales
tall height high: metre meter cm feet foot inch
far distance away: kilometre kilometer km mile metre
big large size: square metre hectare huge
fast speed quick: kmh mph hour
often frequency frequently: daily weekly monthly yearly twice once every times
begin start: first opened launch since
end finish stop: last over closed until deadline
deadline due: until latest submit end by
cancel: off drop call stop
reason cause: because since due why
dead die died: funeral grave buried passed heir inherit
inherit: will heir left estate
fat thin slim diet: kilos weigh lose gain calories
rich wealthy: money million stake fortune sold interest inherit
poor broke: debt money cash
war army military: soldier serve navy barracks officer
visa passport document identity: embassy border expire valid id card
licence license: theory driving test pass exam permit
band group: singer drummer guitarist concert
nationality country come origin: born grew native abroad
city town: village capital
wifi network internet: password router connect ssid lan broadband
password passphrase pin: login secret code credential
computer laptop: macbook thinkpad screen keyboard mouse processor disk ram
screen monitor display: inch resolution
phone mobile: iphone android sim number call landline samsung
disk storage drive: cloud ssd hard backup gigabyte terabyte
video: ffmpeg mp4 mov avi mkv h264 codec crf scale clip
image: png jpg jpeg gif svg webp convert
archive compress pack: tar zip gzip tgz gz 7z bz2 unzip czf
upload deploy publish: rsync scp sftp ftp push release rollout put www
download fetch: curl wget pull get
server host machine: ssh nginx apache port ip daemon systemd node
website page site: html www css http url web browser nginx
style: css display color font
hide hidden: display none visibility
print: printer media paper
certificate: ssl tls openssl x509 crt pem cert https enddate expire selfsigned
expire expiry: until valid enddate expires ttl maxage
cache caching: expires ttl maxage redis memcached
database: sql postgres postgresql mysql sqlite select table query migration index schema mongodb redis
query: select where from join sql group order limit
customer client: buyer user account
best top: limit order desc highest rank
test testing: pytest assert unittest flaky jest fail pass
linter lint: ruff flake8 pylint eslint black mypy
skip ignore exclude: omit except
folder directory path: dir mkdir cd ls exclude
error exception fail failure: traceback fatal err failed panic abort crash exit denied cannot unable
compiler compile build: gcc rustc cargo make cmake javac tsc wheel
crash: segfault traceback panic oom killed coredump
memory: oom heap ram leak killed swap
timeout slow: timedout latency exceeded deadline seconds ms
permission access denied: chmod 403 forbidden sudo unauthorized chown
login authentication authenticate credential: auth 401 smtp password token oauth sso unauthorized
repository repo: git github gitlab clone commit branch merge
clone checkout: git
version release: tag upgrade update changelog
schedule cron nightly: crontab timer daily job night
container: docker podman kubernetes image compose
command: bash sh sudo run cli flag shell terminal
function helper method: def function return export lambda fn
wait delay: timeout settimeout sleep debounce ms
log logging: warn info debug stderr syslog
restart reboot: systemctl service start
package dependency library: pip npm install requirements cargo wheel poetry yarn
variable setting option config configuration: env export default true false toml yaml ini
sofa couch settee
curtain drapes blind
guarantee warranty
rubbish garbage trash waste: bin recycling
chemist pharmacy drugstore
lawyer attorney solicitor: court sue legal
taxi cab: fare uber
parcel package
plumber pipe tap faucet drain: leak boiler
electricity power energy: supplier provider grid meter kwh
babysitter nanny childminder: kids children
hairdresser barber: haircut
herb spice: basil parsley coriander cilantro mint thyme oregano rosemary dill sage chive cumin paprika ginger
foot leg: ankle toe heel knee shin calf thigh
arm hand: elbow wrist finger thumb shoulder
head headache: migraine concussion
stomach belly: nausea ulcer digestion
tooth teeth dentist: molar crown filling brace cavity
mortgage loan: bank interest
salary wage income earn: raise monthly payroll
borrow lend owe: loan debt return
promotion promote position role: head lead manager director senior
quarrel argue argument: row shout dispute
accident collision: crash hit dent ambulance
danger dangerous unsafe risk: hazard recall poison toxic explode
angry furious annoyed: rude shout threaten complain
sad unhappy upset: cry tears depressed
tired exhausted: weary nap
streaming: netflix disney spotify youtube subscription
problem trouble issue bug: defect fault error broken wrong fail
ci pipeline: jenkins actions gitlab circleci
flaky unstable random: intermittent sometimes
throttle limit: rate limiter quota
standup: daily meeting
mail email: smtp imap sendmail inbox mailer
"""
