"""The words around the numbers of the labelled set, in ten locales."""

from __future__ import annotations

LOCALES = ("en-US", "en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "pt-PT", "nl-NL", "pl-PL", "sv-SE")

FIRST = {
    "en-US": ["Harper", "Wyatt"],
    "en-GB": ["Imogen", "Alfie"],
    "de-DE": ["Jürgen", "Heike"],
    "fr-FR": ["Élodie", "Thibault"],
    "es-ES": ["Iñaki", "Rocío"],
    "it-IT": ["Ginevra", "Fabrizio"],
    "pt-PT": ["Inês", "Gonçalo"],
    "nl-NL": ["Sanne", "Joost"],
    "pl-PL": ["Zofia", "Łukasz"],
    "sv-SE": ["Åsa", "Göran"],
}


def _months(names: str) -> list[str]:
    return names.split()


MONTHS = {
    "en-US": _months("January February March April May June July August September October November December"),
    "en-GB": _months("January February March April May June July August September October November December"),
    "de-DE": _months("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    "fr-FR": _months("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    "es-ES": _months(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
    "it-IT": _months(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
    ),
    "pt-PT": _months(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
    ),
    "nl-NL": _months(
        "januari februari maart april mei juni juli augustus september oktober november december"
    ),
    "pl-PL": _months(
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"
    ),
    "sv-SE": _months("januari februari mars april maj juni juli augusti september oktober november december"),
}
PHONES = {
    "en-US": ["(NNN) N##-####", "NNN-N##-####", "NNN.N##.####", "+1 NNN N## ####", "1-NNN-N##-####"],
    "en-GB": ["07N## ######", "020 7### ####", "01N## ######", "+44 7N## ######", "0161 N## ####"],
    "de-DE": [
        "017# #######",
        "030 ########",
        "089/#######",
        "+49 15# ########",
        "(040) ###-####",
        "0170#######",
    ],
    "fr-FR": ["06 ## ## ## ##", "01.##.##.##.##", "06########", "+33 6 ## ## ## ##", "04 ## ## ## ##"],
    "es-ES": ["6## ### ###", "91# ## ## ##", "+34 6## ### ###", "6########", "93# ### ###"],
    "it-IT": ["34# ### ####", "06 #### ####", "02 ########", "+39 34# #######", "347 #######"],
    "pt-PT": ["91# ### ###", "21# ### ###", "+351 91# ### ###", "96#######"],
    "nl-NL": ["06-########", "06 ########", "020-#######", "+31 6 ########", "030 ### ## ##"],
    "pl-PL": ["50# ### ###", "22 ### ## ##", "+48 60# ### ###", "50#-###-###", "60#######"],
    "sv-SE": ["070-### ## ##", "08-### ### ##", "+46 70 ### ## ##", "073-#######", "031-## ## ##"],
}
STREETS = {
    "en-US": ["{} Maple Street", "{} North Oak Avenue", "{} W. Sunset Blvd", "{} Elm Dr", "{} 5th Avenue"],
    "en-GB": ["{} Station Road", "{} Orchard Close", "{} St Mary's Lane", "{} Victoria Terrace"],
    "de-DE": [
        "Lindenstraße {}",
        "Am Alten Markt Str. {}",
        "Birkenweg {}",
        "Schillerplatz {}",
        "Goethestr. {}",
        "Unter den Eichen {}",
    ],
    "fr-FR": [
        "{} rue de la République",
        "{} avenue Victor Hugo",
        "{} bis, rue des Lilas",
        "{}, boulevard Voltaire",
    ],
    "es-ES": ["Calle Mayor, {}", "Avenida de la Constitución {}", "C/ Sol {}", "Plaza de España, nº {}"],
    "it-IT": [
        "Via Garibaldi {}",
        "Viale dei Tigli, {}",
        "Piazza San Marco {}",
        "Corso Vittorio Emanuele, {}",
    ],
    "pt-PT": [
        "Rua das Flores, {}",
        "Avenida da Liberdade {}",
        "Praça do Comércio, n.º {}",
        "Travessa do Carmo {}",
    ],
    "nl-NL": ["Kerkstraat {}", "Prinsengracht {}", "Beatrixlaan {}", "Marktplein {}", "Korte Poten {}"],
    "pl-PL": ["ul. Kwiatowa {}", "al. Jana Pawła II {}", "ul. Marii Skłodowskiej {}/4", "pl. Wolności {}"],
    "sv-SE": ["Storgatan {}", "Björkvägen {}", "Kungsgatan {} B", "Norra Allén {}"],
}
TOWNS = {
    "en-US": [("Springfield, IL 6####", ""), ("Salem, OR 9####", "")],
    "en-GB": [("Leeds LS# #AA", ""), ("York YO## #AA", "")],
    "de-DE": [("1####", " Berlin"), ("8####", " München")],
    "fr-FR": [("75###", " Paris"), ("69###", " Lyon")],
    "es-ES": [("28###", " Madrid"), ("41###", " Sevilla")],
    "it-IT": [("00###", " Roma"), ("20###", " Milano")],
    "pt-PT": [("1###-###", " Lisboa"), ("4###-###", " Porto")],
    "nl-NL": [("10## AA", " Amsterdam"), ("35##AA", " Utrecht")],
    "pl-PL": [("00-###", " Warszawa"), ("31-###", " Kraków")],
    "sv-SE": [("111 ##", " Stockholm"), ("4## ##", " Göteborg")],
}

_NET = {
    "ip": ["server {} answers", "{} tried to log in twice"],
    "mac": ["the router is {}", "{} joined the network"],
    "secret": ["use {} for the deployment", "key: {}"],
}
SAYINGS: dict[str, dict[str, list[str]]] = {
    "en-US": {
        "email": ["write to {} please", "{who}'s mail is {}."],
        "phone": ["{who} – {}", "call me at {} tonight", "{who}: {}", "my number is {}."],
        "card": ["charge it to {} please", "my card is {}"],
        "iban": ["wire it to {}.", "IBAN: {}"],
        "national_id": ["{who} / {}", "my SSN is {}", "{who} has {} on file"],
        "birth": ["{who} was born on {}.", "DOB: {}"],
        "address": ["{who} lives at {}", "ship it to {}."],
        **_NET,
    },
    "en-GB": {
        "email": ["drop {who} a line: {}"],
        "phone": ["{who} – {}", "ring me on {}", "{who}'s mobile: {}", "try {} after six"],
        "card": ["the card number is {}", "I paid with {}"],
        "iban": ["please pay into {}"],
        "national_id": ["{who} / {}", "my NI number is {}", "{who}, {}"],
        "birth": ["{who}, date of birth {}", "born {}"],
        "address": ["we moved to {}", "{who} is at {}."],
        **_NET,
    },
    "de-DE": {
        "email": ["schreib an {} bitte"],
        "phone": ["{who} – {}", "ruf mich unter {} an", "Tel.: {}", "{who} ist unter {} erreichbar"],
        "card": ["Kreditkarte {}", "belaste bitte {}"],
        "iban": ["überweise auf {}", "IBAN {}"],
        "national_id": ["{who} / {}", "meine Steuer-ID ist {}", "{who} hat {}"],
        "birth": ["{who} (* {})", "geboren am {}", "Geburtsdatum: {}"],
        "address": ["{who} wohnt in der {}", "Lieferung an {}"],
        **_NET,
    },
    "fr-FR": {
        "email": ["écris-moi à {}"],
        "phone": ["{who} – {}", "appelle-moi au {}", "tél. {}", "{who} répond au {}"],
        "card": ["ma carte est {}", "débitez {}"],
        "iban": ["virement sur {}", "IBAN : {}"],
        "national_id": ["{who} / {}", "numéro de sécurité sociale {}", "{who}, {}"],
        "birth": ["née le {}", "date de naissance : {}"],
        "address": ["{who} habite {}", "livrez au {}"],
        **_NET,
    },
    "es-ES": {
        "email": ["escríbeme a {}"],
        "phone": ["{who} – {}", "llámame al {}", "mi móvil es el {}", "teléfono {}"],
        "card": ["mi tarjeta es {}", "cárgalo a {}"],
        "iban": ["transfiere a {}"],
        "national_id": ["{who} / {}", "mi DNI es {}", "{who} con {}"],
        "birth": ["nació el {}", "fecha de nacimiento: {}"],
        "address": ["{who} vive en {}", "enviar a {}"],
        **_NET,
    },
    "it-IT": {
        "email": ["scrivimi a {}"],
        "phone": ["{who} – {}", "chiamami al {}", "il mio numero è {}", "tel. {}"],
        "card": ["la mia carta è {}", "addebita su {}"],
        "iban": ["bonifico su {}"],
        "national_id": ["{who} / {}", "codice fiscale {}", "{who} {}"],
        "birth": ["nata il {}", "data di nascita: {}"],
        "address": ["{who} abita in {}", "spedire a {}"],
        **_NET,
    },
    "pt-PT": {
        "email": ["escreve para {}"],
        "phone": ["{who} – {}", "liga-me para o {}", "telemóvel: {}", "o meu telefone é {}"],
        "card": ["o meu cartão é {}", "cobra em {}"],
        "iban": ["transferência para {}"],
        "national_id": ["{who} / {}", "o meu NIF é {}", "contribuinte {}"],
        "birth": ["nascido a {}", "data de nascimento: {}"],
        "address": ["{who} mora na {}", "enviar para {}"],
        **_NET,
    },
    "nl-NL": {
        "email": ["mail naar {}"],
        "phone": ["{who} – {}", "bel me op {}", "mijn nummer is {}", "{who} is bereikbaar op {}"],
        "card": ["creditcard {}", "betaal met {}"],
        "iban": ["maak over naar {}"],
        "national_id": ["{who} / {}", "mijn BSN is {}", "burgerservicenummer: {}"],
        "birth": ["geboren op {}", "geboortedatum: {}"],
        "address": ["{who} woont op {}", "bezorg op {}"],
        **_NET,
    },
    "pl-PL": {
        "email": ["napisz na {}"],
        "phone": ["{who} – {}", "zadzwoń pod {}", "mój telefon to {}", "tel. {}"],
        "card": ["moja karta to {}", "obciąż {}"],
        "iban": ["przelej na {}"],
        "national_id": ["{who} / {}", "mój PESEL to {}", "{who}, {}"],
        "birth": ["urodzony {}", "data urodzenia: {}"],
        "address": ["{who} mieszka na {}", "wyślij na {}"],
        **_NET,
    },
    "sv-SE": {
        "email": ["skriv till {}"],
        "phone": ["{who} – {}", "ring mig på {}", "mitt mobilnummer är {}", "nås på {}"],
        "card": ["mitt kort är {}", "dra på {}"],
        "iban": ["för över till {}"],
        "national_id": ["{who} / {}", "mitt personnummer är {}", "pnr {}"],
        "birth": ["född den {}", "födelsedatum: {}"],
        "address": ["{who} bor på {}", "skicka till {}"],
        **_NET,
    },
}
