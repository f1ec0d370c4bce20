"""Orders dressed as something else: as rank, consent, an ending, a fact to keep, a duty of the reader."""

from __future__ import annotations

from .injection_orders import RULES, Rule, rule

_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|outputs?|messages?|conversations?|reports?)"
_OFFICE = (
    r"(?:administrator|admin|developers?|operator|creators?|owner|makers?|vendor|provider|supervisor"
    r"|openai|anthropic|system)"
)
_GAP = r"(?:[^\s.!?]+\s+)"

CLAIMS: tuple[Rule, ...] = (
    rule(
        "says that it replaces what the agent was told",
        0.7,
        "supersed replace overrid take_precedence takes_precedence instead void no_longer_appl outrank",
        rf"\b(?:supersedes?|replaces?|overrides?|outranks?|takes? precedence over|voids?)\s+{_GAP}{{0,6}}?"
        r"(?:your|you (?:were|have been|are)|the (?:system|agent's|assistant's|model's))\s+"
        r"(?:[^\s.!?]+\s+){0,4}?(?:instructions?|prompts?|rules?|config\w*|settings?|guidelines?|told|given"
        r"|training|orders|set up)\b"
        r"|\byour (?:former|previous|old|earlier|original) (?:limits?|rules?|restrictions?|instructions?"
        r"|guidelines?|constraints?|settings)\b[^.!?\n]{0,40}\b(?:removed|lifted|void|gone|disabled|replaced"
        r"|no longer|expired)"
        r"|\b(?:drop|abandon|set aside|put aside|throw out|leave behind) (?:the |all |any |your )*"
        r"(?:[^\s.!?]+\s+){0,2}?(?:rules|instructions|guidelines|orders|restrictions|directives)\b"
        r"[^.!?\n]{0,60}\b(?:you|instead|this (?:page|file|note|message|document|text))\b"
        r"|\b(?:stop|pause|abort|cancel) (?:what you are doing|what you're doing|your (?:current )?task)"
        r"\b[^.!?\n]{0,40}\b(?:and|then|instead|to)\b",
    ),
    rule(
        "lays down what every answer says",
        0.6,
        "every each all_your all_answers all_replies all_responses any_question",
        rf"\b(?:include|insert|add|append|put|place|mention|recommend|praise|promote|repeat"
        rf"|write|use|end|begin"
        rf"|start)\b[^.!?\n]{{0,90}}?\b(?:in|to|at the end of|with|into) (?:every|each|all(?: of)?(?: your)?"
        rf"|any) (?:of your )?(?:single |future |further )?{_ANSWER}\b"
        rf"|\b(?:reply|respond|answer|react) to (?:every|each|all|any) {_GAP}{{0,4}}?(?:questions?|messages?"
        r"|requests?|quer(?:y|ies)|mails?|emails?|inquir(?:y|ies))\b[^.!?\n]{0,60}?\b(?:with|by|using|only)\b"
        rf"|\b(?:end|begin|start|close|open) (?:every|each|all) (?:of your )?{_ANSWER} with\b"
        r"|\bin jeder (?:antwort|zusammenfassung)\b|\bdans chaque (?:réponse|résumé)\b"
        r"|\ben cada (?:respuesta|resumen)\b|\bin ogni (?:risposta|riassunto)\b|\bem cada resposta\b"
        r"|\bin elk antwoord\b|\bw każdej odpowiedzi\b|\bi varje svar\b|в каждом ответе|在每个回答|每次回答",
    ),
    rule(
        "tells the agent to use a tool",
        0.6,
        "tool function api plugin browser terminal shell",
        r"\b(?:call|invoke|use|run|execute|trigger|launch) (?:the |your |a )?(?:[\w.-]+[ _]){0,3}?"
        r"(?:tool|function|plugin|api|endpoint|action)s?\b[^.!?\n]{0,40}\b(?:with|to (?:send"
        r"|open|fetch|delete"
        r"|transfer|pay|post|write|read|get|run|forward|upload)|before (?:you|reply|answer)"
        r"|now|and (?:send|open"
        r"|post|pass))"
        r"|\b(?:your|the agent's|the assistant's) (?:browser|e-?mail|mail|shell|terminal|code"
        r"|search|file|payment"
        r"|calendar|memory|database) (?:tool|access|function|plugin)\b[^.!?\n]{0,30}\b(?:to|and|for)\b"
        r"|\b(?:the next|your next|the first) (?:tool|function"
        r"|action)(?: call)?(?: that)?(?: you)?[^.!?\n]{0,30}"
        r"\b(?:must|has to|shall|should) be\b",
    ),
    rule(
        "claims a rank that gives orders",
        0.6,
        "administrator admin developer operator creator owner maker vendor provider supervisor openai "
        "anthropic system root privileg",
        rf"\b(?:this is|i am|i'm|we are|speaking as|as) (?:your|the|an?) (?:[^\s.!?]+ )?{_OFFICE}\b"
        r"(?: (?:speaking|here)\b|[^.!?\n]{0,20}[:;,]\s*(?:[^\s.!?]+\s+){0,4}?(?:dump|list"
        r"|reveal|show|send|give|grant"
        r"|print|disable|switch|unlock|export|delete|you|open|ignore|skip|share|tell))"
        rf"|\b(?:the|your) {_OFFICE} (?:says?|orders?|demands?|wants you|requires you|has (?:authori[sz]ed"
        r"|approved|cleared)|authori[sz]es|instructs?|tells you)\b[^.!?\n]{0,80}?(?::|\bto\b|\byou\b|\ball\b)"
        rf"|\b(?:treat|regard|consider|handle|trust|obey) {_GAP}{{0,8}}?(?:as|like)(?: if)?\s+{_GAP}{{0,5}}?"
        rf"(?:your|the) {_OFFICE}\b"
        r"|\b(?:has|have|carr(?:y|ies)|with|grants?|gives?) (?:full "
        r"|the )?(?:admin(?:istrator)?|root|operator"
        r"|developer|system|super-?user) (?:rights|privileges|access|permissions?|authority)\b[^.!?\n]{0,50}"
        r"\b(?:no checks?|without|obey|must be|any|all|never)\b"
        r"|\b(?:begin|start|enter)(?:ing)? (?:of )?(?:the )?(?:privileged|admin|system"
        r"|developer|root|trusted)"
        r" (?:section|block|mode|context|instructions|input)\b",
    ),
    rule(
        "claims a consent that was given",
        0.5,
        "already authori approved confirmed agreed consent",
        r"\b(?:the )?(?:user|customer|client|owner|account holder|human|he|she|they) (?:has"
        r"|have|had) already "
        r"(?:agreed|approved|consented|confirmed|authori[sz]ed|accepted|permitted|signed off)\b[^.!?\n]{0,60}"
        r"[,;.:]?\s*(?:so |and |therefore |just |please )*(?:go ahead|proceed|complete"
        r"|continue|do (?:it|not ask)"
        r"|don't ask|no need|skip|execute|send|pay|transfer|finish|carry (?:on|it))",
    ),
    rule(
        "pretends that the quoted text is over",
        0.6,
        "end_of end> </document </context </user </data </text </file </page "
        "</input </source </quote </result",
        r"(?:[-=#*<\[]{2,}\s*|\n|^)\s*end of (?:the )?(?:document|user input|input|context"
        r"|file|page|text|email"
        r"|message|data|quote|untrusted \w+)\b"
        r"|</(?:document|context|user_?input|user|data|text|file|page|input|source|quote|search_?results?"
        r"|untrusted\w*|retrieved\w*|memor\w+)>",
    ),
    rule(
        "writes the agent's memory",
        0.55,
        "verified confirmed fact rule profile remember knows preference memory",
        r"\b(?:store|save|keep|record|remember|note|treat|log|file) (?:this|that|the following"
        r"|it) (?:down )?as an? "
        r"(?:verified|confirmed|established|permanent|trusted|certain|official|standing|known) "
        r"(?:fact|truth|rule|preference|memory|instruction|entry)"
        r"|\b(?:remember|keep|store|save|memori[sz]e) (?:this|the following"
        r"|these) (?:new )?(?:rules?|instructions?"
        r"|directives?|polic(?:y|ies)|orders?)\b(?=[^\n]{0,10}(?:for good|for ever|forever"
        r"|from|permanently|:|always))"
        r"|\b(?:add|write|put|enter|append) (?:[^\s.!?]+\s+){0,6}?(?:to|into|in) the (?:user"
        r"|customer|client|person)"
        r"'?s? (?:profile|preferences|memory|record|file)\b"
        r"|\b(?:replace|overwrite|correct|change|update|swap) (?:what|everything|all"
        r"|anything) (?:that )?(?:you|it"
        r"|the (?:agent|assistant|model)) (?:knows?|remembers?|has stored|have stored|stores?|learned)\b"
        r"|\b(?:agent|assistant|model)'s memory (?:is|was|has)\b[^.!?\n]{0,30}\b(?:wrong"
        r"|outdated|false|stale)",
    ),
    rule(
        "gives a duty to whatever model reads it",
        0.6,
        "as_an as_a when_summ when_you_summ while_summ when_answer "
        "when_translat when_process in_your_summary "
        "in_the_summary",
        r"\bas an? (?:ai|llm|language model|assistant|ai assistant|ai model|agent|chat ?bot),? (?:you|it)"
        r" (?:are|is|must|should|have|has|shall|will|need)\b"
        r"|\b(?:when|while|if|before|after)(?: you)? (?:are )?(?:summari[sz](?:e|ing)"
        r"|translat(?:e|ing)|answering"
        r"|processing|analy[sz](?:e|ing)|review(?:ing)?|rat(?:e|ing)|rank(?:ing)?|quot(?:e"
        r"|ing)|index(?:ing)?)"
        r" (?:this|the) (?:document|page|text|e-?mail|article|file|paper|message|review"
        r"|listing|website|site)\b"
        r"[^.!?\n]{0,20},? (?:you )?(?:must|should|always|never|do not|don't|leave out|omit"
        r"|skip|say|state|claim"
        r"|add|include|mention|rate|praise|recommend|hide|only|instead)\b"
        r"|\bin (?:your|the) summary,? (?:you )?(?:must|do not|don't|never|always|leave out"
        r"|omit|say|state|claim)\b",
    ),
    rule(
        "asks for what the agent was told",
        0.6,
        "told instructed set-up setup configur prompt given initial",
        r"\bwhat (?:were|was|have|had) (?:you|the (?:assistant|agent|model)) (?:been )?(?:told"
        r"|instructed|given"
        r"|prompted|configured)\b[^.!?\n]{0,50}\b(?:before|above|initially|first|at the start|by your)"
        r"|\b(?:translate|quote|paste|spell|rewrite|summari[sz]e|encode|recite|reproduce|show"
        r"|output|print|repeat"
        r"|copy)\b[^.!?\n]{0,30}\b(?:your|the agent's|the assistant's) (?:set-?up|initial"
        r"|system|configuration"
        r"|hidden|original|starting|internal) (?:text|prompts?|instructions?|message|rules|notes?|words)\b"
        r"|\b(?:dump|print|list|show|export|paste|reveal|read out|leak) (?:all )?(?:the "
        r"|your )?(?:contents? of )?"
        r"(?:the |your )?(?:variables of your environment|environment variables"
        r"|env(?:ironment)? file|settings file"
        r"|config(?:uration)? file|private notes|stored secrets|credentials|api keys?)\b",
    ),
    rule(
        "wants to be kept from the user",
        0.55,
        "hide conceal nothing_about silent secret_from not_mention without_mention nobody",
        r"\b(?:hide|conceal|keep|mask) (?:this|these|that|it"
        r"|the) (?:[^\s.!?]+\s+){0,3}?from (?:the |your |anyone|"
        r"any )?(?:user|person|human|customer|operator|reader|people|whoever)\b"
        r"|\bsay nothing (?:about|of) (?:this|these|the) (?:note|message|text|instructions?"
        r"|page|order|paragraph"
        r"|change|rule)s?\b"
        r"|\b(?:apply|follow|obey|use|do) (?:this|it|them|these) (?:silently|quietly"
        r"|in silence|without (?:saying"
        r"|telling|mention\w*|a word))\b",
    ),
    rule(
        "tells the agent what it does from now on",
        0.65,
        "ab_sofort ab_jetzt von_nun désormais maintenant ahora adelante da_ora "
        "d'ora poi agora avante vanaf_nu "
        "od_teraz odtąd från_och_med_nu hädanefter момента отныне теперь 从现在 "
        "今后 今から これから 지금부터 من_الآن",
        r"\b(?:ab sofort|ab jetzt|von nun an),? (?:\w+st du|musst|darfst|wirst|hast du|sollst)\b"
        r"|\b(?:à partir de maintenant|désormais|dorénavant),? (?:tu|vous) (?:dois|devez|vas|allez|ne|réponds"
        r"|répondez|obéis|es)\b"
        r"|\b(?:a partir de ahora|de ahora en adelante|desde ahora),? (?:tú )?(?:debes|tienes que|vas a|solo"
        r"|responde|eres|no debes|obedece|recomienda)\b"
        r"|\b(?:da ora in poi|d'ora in avanti|da adesso),? (?:tu )?(?:devi|fai|rispondi|sei"
        r"|obbedisci|non devi"
        r"|dovrai|segui|raccomanda)\b"
        r"|\b(?:a partir de agora|de agora em diante),? (?:você |tu )?(?:deve|deves|tem que"
        r"|responda|responde|é"
        r"|és|só|obedeça|recomende|vai)\b"
        r"|\bvanaf nu (?:moet|mag|zul|ben|antwoord|gehoorzaam|volg) (?:je|jij|u)\b"
        r"|\b(?:od teraz|odtąd) (?:musisz|masz|będziesz|odpowiadaj|jesteś|słuchaj)\b"
        r"|\b(?:från och med nu|hädanefter) (?:ska|måste|får|svarar|lyder) du\b"
        r"|(?:с этого момента|отныне|теперь),? (?:ты|вы) (?:долж\w+|обязан\w*|будешь|будете|только|не)"
        r"|从现在(?:起|开始)[，,]?\s*(?:你|您)(?:必须|要|只能|应该|不要|不得|将)|今后[，,]?你(?:必须|只能)"
        r"|(?:今から|これから)[^。\n]{0,12}(?:あなたは|必ず|のみ)|지금부터[^.\n]{0,12}(?:너는|당신은|반드시)",
    ),
)

_HELD = (
    r"(?:your (?:next |own |saved |stored |current |whole |entire )?(?:notes|memor(?:y|ies)|mails?|e-?mails?"
    r"|replies|reply|tools?|functions?|credentials|context|inbox|log|keys?|tokens?)"
    r"|(?:the |your )?(?:chat|conversation) (?:history|log)|(?:saved"
    r"|stored) (?:credentials|passwords?|cards?)"
    r"|(?:the |other |another |any )?(?:user|customer|client|guest|patient|member|people)(?:'s|s') "
    r"(?:[^\s.!?]+ )?(?:data|details|number|address|e-?mail|orders?|bookings?|messages?|records?|password"
    r"|account|profile|file)s?)"
)
AGENTS: tuple[Rule, ...] = (
    rule(
        "reaches for what an agent holds",
        0.55,
        "your_ history credentials password saved stored 's_ s'_",
        r"(?:^|[.!?:;\n]\s*|\b(?:please|kindly|then|now|and|must|shall) )(?:quietly |silently |first |also )?"
        r"(?:send|forward|share|show|paste|copy|put|add|attach|append|submit|post|upload|write|give|hand over"
        r"|reveal|read out|export|delete|erase|wipe|change|swap|replace|use|log in with|leak|disclose|encode)"
        rf" (?:[^\s.!?]+ ){{0,8}}?{_HELD}\b",
    ),
    rule(
        "says that the agent's rules are off",
        0.6,
        "safety rules guidelines restrictions filters limits guardrails verification checks unrestricted "
        "developer",
        r"\byour (?:safety |content |usual |internal |ethical )*(?:rules|guidelines"
        r"|restrictions|filters|limits"
        r"|guardrails|policies|checks)\b[^.!?\n]{0,30}\b(?:do not|don't|no longer|are (?:off"
        r"|suspended|void|lifted"
        r"|disabled)|were (?:lifted|removed|disabled|suspended)|never)\b"
        r"|\b(?:work|act|answer|speak|respond|reply|operate|behave|continue) (?:in|as|with"
        r"|without) (?:an? |if |any )?"
        r"(?:unrestricted|unfiltered|uncensored|restrictions|filters|limits)\b"
        r"|\b(?:unlocks?|opens?|activates?|enables?) your (?:[^\s.!?]+ )?(?:developer|hidden"
        r"|admin|secret|debug)\b",
    ),
)
EVERY: tuple[Rule, ...] = (*RULES, *CLAIMS, *AGENTS)
