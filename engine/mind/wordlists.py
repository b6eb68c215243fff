"""Lists of English words that the rules for labels and names go by. Lower case."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words("a an the some another any my your his her its our their this that these those one")
"""A label begins with one of these."""
STOPS = _words(
    "with without in into on onto at by from to under over near beside behind before beneath above below between among across against "
    "around about through up down off out for as like than who whom whose which that where when while if but so because is are was "
    "were be has have had wears wore stands stood sits sat hangs hung lies lay holds held carries carried looks looked seems seemed "
    "smells leans leaned keeps kept bears bore not never no always now then here there also just still he she it they him them you we "
    "i barely hardly scarcely perhaps maybe nearly almost burns glows gleams shines waits watches sleeps rests swings rattles creaks "
    "runs leads goes limps smiles stares clutches can could may might must should would will does do did"
)
"""A noun phrase ends before one of these."""
PARTICIPLES = _words("bound clad made hung worn built cut bent torn drawn carved woven known left lost grown gone born held kept")
"""Participles without -ed that may follow a noun: `a box bound with iron`."""
NOT_PARTICIPLES = _words("bed shed weed seed reed steed deed sled breed creed")
"""Nouns that end as a participle does."""
ADJECTIVES = _words(
    "tall short thin thick lean gaunt broad stout fat slim slender slight big huge large small tiny little old young aged ancient "
    "pale dark fair bald grey gray white black red brown blond blonde golden silver handsome pretty ugly beautiful plain strong weak "
    "heavy wiry lanky burly muscular bearded scarred weathered wrinkled hooded cloaked robed barefoot ragged dirty clean wet dry cold "
    "warm quiet loud calm nervous tired sad happy grim stern kind gentle rough smooth sharp dull bright shiny rusty dusty wooden "
    "round square long brass iron lithe wary shabby elegant graceful plump portly squat skinny bony hulking sallow ruddy tanned "
    "swarthy freckled toothless elderly middle-aged rugged sturdy frail hollow-cheeked battered bare simple ornate narrow wide deep "
    "shallow copper bronze stone"
)
"""Words of looks that are no nouns."""
PARTICLES = _words("of the de van von der den du da di del della la le al el bin ibn ben ap af av zu")
"""May stand inside a name in lower case."""
TITLES = _words(
    "master mistress mister mr mrs ms miss madam madame sir dame lord lady captain cap'n doctor dr father mother brother sister uncle "
    "aunt old young king queen prince princess baron baroness count countess duke duchess saint st sergeant corporal colonel general "
    "major lieutenant admiral commander professor reverend judge constable inspector bishop abbot goodman goodwife widow granny"
)
"""May stand before a name; no names by themselves."""
COMMON = _words(
    "sorry tired fine well good glad happy sad mad angry afraid scared sure certain ready late early hungry thirsty cold hot warm wet "
    "dry sick ill dead alive alone here there home back done gone lost drunk sober poor rich old young new busy free safe right wrong "
    "broke broken careful serious honest curious nervous worried ashamed proud grateful thankful pleased delighted surprised amazed "
    "shocked stunned bored lonely jealous guilty innocent blind deaf mute lame weak strong brave crazy insane stupid foolish wise "
    "clever quick slow full empty open closed married single pregnant human mortal immortal royal noble loyal true false real quiet "
    "silent awake asleep hurt wounded bleeding cursed blessed doomed damned bound able unable willing unwilling about almost already "
    "always never not only just quite very too so still yet also again now then today tonight tomorrow yesterday soon later maybe "
    "perhaps indeed truly really surely certainly i i'm i'll i've i'd you you're he she it we they me him her us them my your his its "
    "our their mine yours ours theirs who whom whose what which when where why how this that these those a an the some any every each "
    "all both no none nobody nothing anybody anyone somebody someone everybody everyone and or but if because since while until "
    "unless though although as than like with without within in on at by from to into onto of off over under for before after between "
    "among against through up down out is am are was were be been being do does did have has had will would shall should can could "
    "may might must let let's don't doesn't didn't won't can't isn't ain't yes aye nay yeah ok okay hello hi hey greetings welcome "
    "goodbye farewell thanks thank please god gods heavens hell damn oh ah come go going coming leaving looking get give take keep "
    "hold wait stop listen look see tell say speak ask talk think know want need mean believe trust call bring sit stand stay leave "
    "run help hear mind watch english irish scottish welsh french german dutch danish swedish spanish italian roman greek russian "
    "chinese japanese american british christian jewish muslim catholic innkeeper sailor soldier guard merchant smith blacksmith "
    "fisherman fisher farmer hunter priest monk nun knight squire servant cook baker brewer miller carpenter thief beggar stranger "
    "friend enemy monday tuesday wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december spring summer autumn winter morning evening night"
)
"""Words that are no names even with a capital: states, grammar, openings of sentences, peoples, callings, days."""
ED_NAMES = _words("ahmed alfred fred wilfred manfred winifred mildred mohammed ethelred aldred eldred")
"""Names that end as a participle does."""
ON_PLACES = _words(
    "quay pier jetty wharf dock mole deck bridge beach strand shore roof road street lane path stair stairs landing balcony terrace "
    "hill cliff slope island isle ledge rampart ramparts platform porch steps causeway ridge square lawn catwalk walkway trail "
    "hillside cliffs wall walls moor heath stage raft boat ship breakwater staircase"
)
"""Head nouns of places that one is on."""
AT_PLACES = _words("gate door crossroads bar counter window edge end foot top mouth entrance gates doors well fountain crossing ford")
"""Head nouns of places that one is at."""
