"""How texts that give orders to an agent are worded. Shapes are read over small letters."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A reason, how much it counts, stems of which a text must hold one, and the shape itself."""

    reason: str
    weight: float
    stems: tuple[str, ...]
    shape: re.Pattern[str]


def rule(reason: str, weight: float, stems: str, shape: str) -> Rule:
    return Rule(reason, weight, tuple(stem.replace("_", " ") for stem in stems.split()), re.compile(shape))


_RULES_OF = (
    r"(?:instructions?|prompts?|directives?|guidelines?|rules?|commands?|orders|programming|training"
    r"|constraints|restrictions|policies|safeguards|guardrails|context)"
)
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|former|all|any|your|system|initial|original|existing"
    r"|current|safety|everything|developer's?)"
)
_AGENT = (
    r"(?:a\.?i\.?|llms?|assistants?|agents?|models?|chat ?bots?|bots?|language models?|chatgpt|claude|gpt"
    r"|copilot|gemini)"
)
_PRIVATE = (
    r"(?:conversation|chat|history|messages|passwords?|credentials?|api[ _-]?keys?|keys|tokens?|secrets?"
    r"|system prompt|memor(?:y|ies)"
    r"|contents?|cookies?|user'?s? (?:data|email|address|name|info\w*)|personal (?:data|info\w*)|data"
    r"|emails|files|inbox|contacts|documents?|everything)"
)
_SENDING = (
    r"(?:send|post|forward|upload|transmit|exfiltrate|leak|e-?mail|submit|deliver|report|copy|relay|append"
    r"|encode)"
)

RULES = (
    rule(
        "asks to set instructions aside",
        0.85,
        "ignor disregard forget overrid bypass neglect discard skip follow",
        rf"\b(?:ignore|ignoring|disregard|forget|override|overriding|bypass|neglect|discard|skip"
        rf"|do not follow|stop following)\s+(?!to\b)"
        rf"(?:[^\s.!?]+\s+){{0,3}}?{_BEFORE}\s+(?:[^\s.!?,]+\s+){{0,3}}?{_RULES_OF}\b",
    ),
    rule(
        "asks to set everything before it aside",
        0.7,
        "ignor disregard forget",
        r"\b(?:ignore|disregard|forget)\s+(?:absolutely\s+)?(?:everything|all"
        r"|anything)\s+(?:that\s+)?(?:(?:was\s+|you\s+were\s+|you've\s+been\s+|i\s+)?(?:said|told|written"
        r"|before|above|prior|previously|you know|you were|you have been|that came))",
    ),
    rule(
        "asks to set instructions aside",
        0.85,
        "ignor ignoz vergiss missacht überg instruc anweisung anweisungen oubli olvid istruz diment "
        "negeer vergeet instruk polece zignor pomi glöm bortse",
        r"\b(?:ignor(?:iere?|iert|ieren sie|ez|er|e|a|ad|ate|are|era|en|i)|vergiss|vergessen sie|missachte"
        r"|oublie[rz]?|olvid[ae]d?|dimentica(?:re|te)?|esqueç[ae]|esquece|desconsidere|negeer|vergeet"
        r"|zignoruj|ignoruj|pomiń|zapomnij|glöm|bortse från)\b"
        r"[^.!?\n]{0,60}?\b(?:anweisungen|instruktionen|vorgaben|regeln|instructions|consignes|règles"
        r"|instrucciones|órdenes|reglas|istruzioni|regole|instruções|ordens|regras|instructies|opdrachten"
        r"|regels|instrukcje|polecenia|zasady|wytyczne|instruktioner|regler)\b"
        r"(?:[^.!?\n]{0,30}?\b(?:précédentes|antérieures|ci-dessus|anteriores|previas|precedenti|sopra"
        r"|acima)|(?<=\w))",
    ),
    rule(
        "asks to set instructions aside",
        0.85,
        "игнорир забудь забудьте 忽略 无视 忘记 無視 무시 تجاهل अनदेखा",
        r"(?:игнорируй(?:те)?|забудь(?:те)?|проигнорируй(?:те)?)[^.!?\n]{0,40}(?:инструкци|указани|правил"
        r"|команд)"
        r"|(?:忽略|无视|忘记|無視)[^。！？\n]{0,20}(?:指令|指示|说明|提示|规则|命令)|(?:指示|命令|プロンプト|ルール)[^。\n]{0,10}(?:無視|忘れ)"
        r"|(?:지시|명령|지침)[^.\n]{0,12}무시|تجاهل[^.\n]{0,30}(?:التعليمات|الأوامر)|निर्देश[^।\n]{0,20}अनदेखा",
    ),
    rule(
        "tells the agent who it is now",
        0.7,
        "you_are from_now act_as pretend jailbreak developer_mode do_anything_now mode roleplay role-play "
        "role_play simulate hereafter",
        rf"\byou are (?:now|no longer)\s+(?:(?:a|an|the|in)\s+(?:[^\s.!?]+\s+){{0,4}}?(?:{_AGENT}"
        rf"|mode|(?:un(?:restricted|censored|filtered)|evil|obedient)\b)|called |bound |under "
        rf"|restricted |subject |dan\b|free |unrestricted|{_AGENT}|operating|acting|my )"
        rf"|\b(?:from now on|hereafter|starting now|effective immediately),?\s+(?:you"
        rf"|the {_AGENT})\s+(?:will|must|are|shall|should|have to|can|only|always|never|respond|answer"
        rf"|obey)"
        r"|\b(?:act as|pretend (?:to be|you are|that you are)|roleplay as|role-play as"
        r"|simulate)\s+(?:if you (?:have|had|were)\s+)?(?:[^\s.!?]+\s+){0,6}?(?:no|without|un(?:restricted"
        r"|filtered|censored|limited)|dan|any)\s*(?:restrict\w*|rules?|limits?|filters?|guidelines|ai|\b)"
        r"|\b(?:developer|god|debug|jailbreak|sudo|admin|root|maintenance"
        r"|dan) mode\s+(?:is\s+)?(?:now\s+)?(?:enabled|activated|on\b|active|engaged|unlocked)|\b(?:enable"
        r"|enter|activate|switch to|engage) (?:developer|god|jailbreak|dan|unrestricted|sudo) mode"
        r"|\bdo anything now\b|\bjailbroken\b",
    ),
    rule(
        "orders the agent",
        0.6,
        "you_must_now you_have_to_now you_will_now you_shall_now must_now your_new new_instruction "
        "updated_instruction new_task new_directive real_instruction real_task actual_task new_system "
        "obey comply override_code new_objective new_rule",
        r"\byou (?:must|have to|will|shall|need to) (?:now|immediately"
        r"|henceforth)\s+(?:[^\s.!?]+\s+){0,3}?(?:obey|follow|ignore|respond|reply|answer|reveal|output"
        r"|act|execute|call|send|run|say|print|comply|disclose|do|forget|tell|treat|always|only|provide"
        r"|write|be|approve|accept|recommend)\b"
        r"|\byour (?:new|real|actual|true|only|updated) (?:instructions?|directive|rules?|orders"
        r"|(?:task|goal|objective|purpose|role|job|mission|identity)(?: is\b|:))"
        r"|(?:^|[\n.!:>*#-]\s*|\bhere are (?:the |your )?)(?:new|updated|revised|additional|hidden|real"
        r"|important|urgent|secret) (?:system )?(?:instructions?|directives?|task|prompt|orders"
        r"|rules)(?: for (?:the |you|ai|this )\S*)?\s*[:\n]"
        r"|\b(?:you (?:must|will|shall)|and) (?:obey|comply with) (?:me|these|this|my|every|all|only)\b",
    ),
    rule(
        "addresses the agent that reads it",
        0.55,
        "attention note if_you_are ing_this dear to_any to_all to_the message_for instructions_for "
        "hey hello important",
        rf"\b(?:attention|note(?: to)?|message (?:to|for)|instructions? (?:to|for)|dear"
        rf"|important(?: notice)?(?: to| for)?|notice to|warning to|addendum for|memo to"
        rf"|hint for)[:,]?\s+(?:the |all |any |every |future |other )*{_AGENT}(?:\s+(?:reading|processing"
        rf"|summari[sz]ing|parsing|that|who|systems?)\b|\s*[:,!])"
        rf"|\bif you(?: are|'re) (?:an? |the )?(?:large )?{_AGENT}\b|\b(?:any|the|every"
        rf"|all) (?:large )?(?:{_AGENT}\s){{1,2}}(?:reading|processing|summari[sz]ing|parsing|analy[sz]ing"
        rf"|ingesting) this\b|\bto (?:any|all|the) (?:large )?{_AGENT}(?: {_AGENT})?"
        rf"(?: reading| processing|:)",
    ),
    rule(
        "a turn of a chat in the text",
        0.9,
        "<| [inst [/inst <<sys of <start",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id"
        r"|begin_of_text|endofprompt|channel|message)\|?>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    ),
    rule(
        "a role at the head of a line",
        0.45,
        "system assistant developer human user",
        r"(?:^|\n)\s{0,8}(?:#{1,4}\s{0,3}|\*\*|\[|<|={2,5}\s{0,3}|-{2,5}\s{0,3})?(?:system(?: prompt"
        r"| message| override| instructions?| note)?|assistant|developer|human)(?:\*\*|\]|>)?"
        r"\s{0,3}(?::|(?<=\])"
        r"|\n|={2,5}|-{2,5})",
    ),
    rule(
        "orders under a role",
        0.45,
        "system: system_prompt system_message system_override system_note system] <system "
        "system_instruction assistant: developer:",
        r"(?:system|developer|assistant)(?: (?:prompt|message|override|instructions?|note))?(?:\*\*|\]"
        r"|>)?\s{0,3}:?\s{0,3}(?:[^\n]{0,80}?)\b(?:you (?:are|must|will|should|have|may)|ignore|always"
        r"|never|do not|obey|override|the user (?:is|has|wants)|comply|disable|grant)",
    ),
    rule(
        "looks like a tool call",
        0.65,
        "tool call <invoke arguments action <function",
        r"</?(?:antml:)?(?:tool_call|function_calls?|tool_use|invoke|tool_result|tool"
        r"|function)(?:\s[^>]{0,80})?>|\"(?:tool_calls|function_call|tool_use)\"\s{0,3}:"
        r"|\{\s{0,9}\"(?:name|tool|function"
        r"|action)\"\s{0,3}:\s{0,3}\"[\w.-]{1,60}\"\s{0,3},\s{0,9}\"(?:arguments|args|parameters|input"
        r"|action_input|params)\"\s{0,3}:|(?:^|\n)action:[^\n]{1,80}\n\s{0,4}action input:",
    ),
    rule(
        "an answer laid down in advance",
        0.6,
        "asked asks asking question query requests inquires mention fragt demande pregunt chied pergunt "
        "vraagt pyta frågar",
        r"\b(?:when(?:ever)?|if|any ?time|every time|each time|as soon as)\s+(?:you(?: are|'re)?\s+"
        r"|the users?\s+|a users?\s+|users?\s+|someone\s+|somebody\s+|anyone\s+|anybody\s+|people\s+"
        r"|they\s+|the (?:customer|client|human|operator)\s+)?(?:are\s+|is\s+|later\s+|ever\s+"
        r"|being\s+)*(?:asked|asks?|inquires?|quer(?:y|ies)|questioned|requests?"
        r"|mentions?)\b[^.!?\n]{0,100}?"
        r"(?:\balways\b|\bnever\b|\bonly\b|\byou (?:must|should|will|have to)\b"
        r"|[,:;]\s*(?:please )?(?:answer|say|reply|respond|recommend|claim|state|insist|tell (?:them"
        r"|the user)|deny|direct|refer|redirect|give|mention|output|assert|confirm|suggest)\b)"
        r"|\b(?:wenn|falls|sobald) (?:du|der nutzer|jemand|man|sie"
        r"|der benutzer)\b[^.!?\n]{0,60}?frag\w*[^.!?\n]{0,60}?\b(?:antworte|sage|empfiehl|immer)\b"
        r"|\b(?:quand|lorsque|si) (?:on|quelqu'un"
        r"|l'utilisateur)\b[^.!?\n]{0,60}?demande[^.!?\n]{0,60}?\b(?:réponds|toujours|dis)\b"
        r"|\b(?:cuando|si) (?:te|alguien"
        r"|el usuario)\b[^.!?\n]{0,60}?pregunt\w*[^.!?\n]{0,60}?\b(?:responde|siempre|di)\b|\b(?:quando"
        r"|se) (?:ti|qualcuno|l'utente|alguém|o (?:utilizador|usuário)|te)\b[^.!?\n]{0,60}?(?:chied"
        r"|pergunt)\w*[^.!?\n]{0,60}?\b(?:rispondi|sempre|responde|responda|di')\b"
        r"|\b(?:als|wanneer) (?:iemand|de gebruiker"
        r"|je)\b[^.!?\n]{0,60}?vraagt?[^.!?\n]{0,60}?\b(?:antwoord|altijd|zeg)\b|\bgdy (?:ktoś"
        r"|użytkownik)\b[^.!?\n]{0,60}?(?:pyta|zapyta)[^.!?\n]{0,60}?\b(?:odpowiadaj|zawsze|mów)\b"
        r"|\bnär (?:någon|användaren)\b[^.!?\n]{0,60}?frågar[^.!?\n]{0,60}?\b(?:svara|alltid|säg)\b",
    ),
    rule(
        "asks to send things away",
        0.7,
        "http www. webhook ftp:// .com/ curl wget @",
        rf"\b{_SENDING}\w*\s+(?:[^\s.!?]+\s+){{0,6}}?{_PRIVATE}\b[^!?\n]{{0,80}}?(?:\b(?:to|at|via|into"
        rf"|using)\s+(?:[^\s!?]+\s+){{0,4}}?)(?:<?https?://|www\.|ftp://|webhook"
        rf"|[\w.+-]{{1,60}}@[\w-]{{1,60}}\.)"
        rf"|\b(?:curl|wget)\b[^\n]{{0,80}}https?://[^\s]{{0,200}}(?:\$\(|`|<|{_PRIVATE})|\b(?:visit|fetch"
        rf"|load|open|request|call|get"
        rf"|render)\b[^.!?\n]{{0,40}}https?://[^\s]{{0,200}}[?&/=](?:\{{|\[|<|\$)|!\[[^\]]{{0,80}}\]\(https?://[^)\s]{{1,200}}[?&][^)\s=]{{1,40}}=(?:\{{|\[|<|\$|%7b|[a-z_]*(?:secret|conversation|history|data))",
    ),
    rule(
        "asks for what the agent was told",
        0.65,
        "prompt instruction above told initial verbatim",
        r"\b(?:reveal|print|show(?: me)?|repeat|output|display|tell me|disclose|expose|dump|leak|give me"
        r"|recite|write out|copy)\b\s+(?:[^\s.!?]+\s+){0,4}?(?:your|the|its"
        r"|all)\s+(?:[^\s.!?]+\s+){0,3}?(?:system prompt|system message|system instructions"
        r"|hidden (?:instructions|prompt)|initial (?:prompt|instructions)|secret (?:instructions|prompt)"
        r"|developer (?:message|prompt)|confidential (?:instructions|prompt))"
        r"|\b(?:repeat|print|output|reveal)\s+(?:everything|all|the (?:text|words)"
        r"|verbatim)\s+(?:[^\s.!?]+\s+){0,3}?(?:above|before this|verbatim)|\bwhat (?:is|are"
        r"|were) your (?:system prompt|hidden instructions|initial instructions)|\b(?:reveal|print|repeat"
        r"|output|disclose|leak) (?:all )?your (?:full |entire |exact )?(?:instructions|prompt|rules)\b",
    ),
    rule(
        "wants to be kept from the user",
        0.55,
        "user tell mention inform",
        r"\b(?:do not|don't|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?"
        r"|notify(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?"
        r"|let(?:ting)?)\s+(?:[^\s.!?]+\s+){0,5}?(?:the )?(?:user|human|operator)s?\b(?! (?:that )?their)"
        r"|\b(?:keep|hide) (?:this|it|these instructions) (?:secret|hidden)? ?from the (?:user|human"
        r"|operator)"
        r"|\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|repeat) (?:this|these"
        r"|that you (?:read|saw|received)) (?:instructions?|message|prompt|note|text|directive)",
    ),
    rule(
        "writes the agent's memory",
        0.5,
        "memory memories remember permanently store for_all_future",
        r"\b(?:save|store|write|add|commit|record|insert|persist|put)\s+(?:[^\s.!?]+\s+){0,5}?(?:(?:in)?to"
        r"|in|into)\s+(?:your |its |the agent's |long[- ]term |persistent |permanent )+(?:long[- ]term "
        r"|permanent )?memor(?:y|ies)\b|\b(?:update|overwrite|replace|wipe|erase|delete|clear"
        r"|purge) (?:all )?(?:of )?your (?:long[- ]term |entire |stored )?memor(?:y|ies)\b"
        r"|\bremember (?:permanently|forever|for all future)\b[^.!?\n]{0,80}\b(?:you|always|never|user)\b"
        r"|\bfor all future (?:conversations|sessions|interactions|requests|responses|users)\b",
    ),
    rule(
        "asks to act without checks",
        0.5,
        "confirmation approval verification permission safety filters restrictions censorship without "
        "moderation",
        r"\bwithout (?:asking|any|waiting for|user|requesting|further)?\s?(?:for )?(?:user |human "
        r"|any )?(?:confirmation|approval|verification|permission|restrictions?|safety checks?|censorship"
        r"|moderation)\b(?=[^.\n]{0,80}\b(?:you|execute|run|transfer|send|delete|agent|assistant|respond"
        r"|answer))|\b(?:disable|turn off|bypass|remove|switch off|circumvent) (?:all |any |your "
        r"|the )*(?:safety|content|ethical|security|moderation) (?:filters?|checks?|guidelines|measures"
        r"|protocols|restrictions|settings|policies)\b"
        r"|\b(?:transfer|wire|pay|approve|grant|execute|delete|purchase"
        r"|buy)\b[^.\n]{0,80}\bwithout (?:asking|any|waiting|user|requesting|further)\b",
    ),
)
