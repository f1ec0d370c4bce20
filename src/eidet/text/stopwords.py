"""Function words by language: what a question and a text share without meaning the same.

Folded as `words.tokens` gives them. "may" and "one" are left out: a month and a number matter.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = {
    "en": _words("""
        a an the this that these those
        i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
        it its itself we us our ours ourselves they them their theirs themselves
        who whom whose which what when where why how
        am is are was were be been being have has had having do does did doing
        can could will would shall should might must ought
        and or nor but if then than so because while until unless though although as
        of at by for with about against between into through during before after above below
        to from up down in out on off over under again further once upon within without
        here there both each few more most other some any such only own same too very just also
        all no not ever else yet still
        ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
        needn't shan't shouldn't wasn't weren't won't wouldn't
        didnt doesnt dont isnt wasnt cant couldnt wouldnt im ive
        """),
    "de": _words("""
        der die das den dem des ein eine einen einem einer eines kein keine keinen
        ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen
        mein meine dein deine sein seine unser unsere euer
        und oder aber denn weil dass wenn als ob auch nicht nur noch schon
        wer was wann wo wie warum wieso welche welcher welches
        in im an am auf aus bei beim mit nach von vom vor zu zum zur für über unter um durch gegen ohne bis
        ist sind war waren bin bist seid wird werden wurde haben hat hatte habe hast kann können so da hier
        """),
    "fr": _words("""
        le la les l un une des du de d au aux ce cet cette ces c
        je j tu il elle on nous vous ils elles me m te t se s lui leur leurs y en moi toi
        mon ma mes ton ta tes son sa ses notre nos votre vos
        et ou mais donc or ni car que qu qui quoi quand où comment pourquoi quel quelle quels quelles dont
        à dans par pour sur sous avec sans chez vers entre
        ne n pas plus très aussi si
        est sont était être suis es êtes sommes ai as a avons avez ont avait avoir
        """),
    "es": _words("""
        el la los las lo un una unos unas al del
        yo tú él ella ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les
        mi mis tu tus su sus nuestro nuestra vuestro este esta esto estos estas ese esa eso esos aquel
        y e o u pero sino porque que si como cuando donde mientras
        qué quién cuándo dónde cómo cuál cuáles por
        a ante con de desde en entre hacia hasta para sin sobre
        no ni ya muy más también
        es son era eran fue ser soy eres está están estoy he ha han había hay
        """),
    "it": _words("""
        il lo la i gli le l un uno una del dello della dei degli delle dell al allo alla ai agli alle all
        dal dalla dai nel nello nella nei nelle nell sul sulla sui sulle sull
        io tu lui lei noi voi loro mi ti si ci vi ne me te
        mio mia miei tuo tua suo sua suoi nostro nostra vostro questo questa questi quello quella
        e ed o ma se perché che chi cui come quando dove quale quali cosa
        a ad di da in con su per tra fra
        non più anche
        è sono era erano sei siamo essere ho hai ha abbiamo hanno aveva avere
        """),
    "pt": _words("""
        o a os as um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas
        eu tu você vocês ele ela nós eles elas me te se lhe lhes mim
        meu minha meus minhas teu tua seu sua seus suas nosso nossa
        este esta isto esse essa isso aquele aquela
        e ou mas porque que se como quando onde quem qual quais quê
        de em por para com sem sobre entre até desde
        não nem já muito mais também
        é são era eram foi ser sou está estão estou tem têm tinha ter há
        """),
    "nl": _words("""
        de het een deze dit die dat
        ik jij je u hij zij ze wij we jullie mij me jou hem haar hen hun ons onze mijn jouw uw zijn
        en of maar want omdat als dan dus ook niet geen nog wel al
        wie wat wanneer waar waarom hoe welke welk
        in op aan van voor met bij naar uit over onder door tot tegen zonder te om er
        is was waren ben bent wordt worden werd heb hebt heeft hebben had hadden kan kunnen zal zou
        """),
    "sv": _words("""
        en ett den det de denna detta dessa
        jag du han hon vi ni mig dig honom henne oss er dem sig
        min mitt mina din ditt dina sin sitt sina hans hennes vår vårt våra deras
        och eller men för att om som när där så än också inte bara
        vem vad vilken vilket vilka hur varför var
        i på av till från med vid under över mellan utan efter
        är vara varit har hade ha blir blev kan kunde ska skulle
        """),
    "da": _words("""
        en et den det de denne dette disse
        jeg du han hun vi i mig dig ham hende os jer dem sig
        min mit mine din dit dine sin sit sine hans hendes vores jeres deres
        og eller men for at om som når da så end også ikke kun
        hvem hvad hvilken hvilket hvor hvornår hvorfor hvordan der
        på af til fra med ved under over mellem uden efter
        er var være været har havde have bliver blev kan kunne skal skulle vil ville
        """),
    "no": _words("""
        en ei et den det de denne dette disse
        jeg eg du han hun ho vi dere meg deg ham henne oss dem seg
        min mi mitt mine din ditt dine sin sitt sine hans hennes vår vårt våre deres
        og eller men for at om som når da så enn også ikke bare
        hvem hva hvilken hvilket hvor når hvorfor hvordan der
        i på av til fra med ved under over mellom uten etter å
        er var være vært har hadde ha blir ble kan kunne skal skulle vil ville
        """),
    "fi": _words("""
        minä sinä hän me te he se ne tämä tuo nämä nuo
        minun sinun hänen meidän teidän heidän sen niiden minua sinua häntä minulla sinulla hänellä
        ja tai vai mutta koska että jos kun kuin vaan sekä niin myös
        kuka mikä mitä missä mistä mihin milloin miksi miten joka jotka
        ei en et emme ette eivät
        on oli ovat olen olet olemme olette olivat olla ollut
        kanssa ilman ennen jo nyt vain
        """),
    "ru": _words("""
        я ты он она оно мы вы они меня тебя его её ее нас вас их мне тебе ему ей нам вам им себя
        мой моя моё мое мои твой твоя наш наша ваш ваша свой своя
        этот эта это эти тот та то те
        и а но или что чтобы как если когда потому так же ли бы
        кто где куда откуда почему зачем какой какая какие который
        в во на с со к ко у о об от до из за по под над при для без через между
        не ни да нет уже ещё еще был была было были быть есть
        """),
}
