"""How people ask, thank and talk to one another, in the languages that `addressing.py` knows.

Each word or pattern stands here because people use it so; a language that is missing is understood by its question
marks alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of a language, which is compiled once it is needed: most processes need none of the hundred."""
    return re.compile(pattern)


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """How people write in one language, in patterns for text in small letters.

    `common` are words that say nothing of a subject; none where words are not apart. A sentence `asks` by how it begins,
    or anywhere where the language puts that anywhere, also without a question mark. One that `seeks` asks what documents
    tell: how something is done, what it is, whether it is possible. `requests` are what one would have a bot do, and
    `general` is a "you" that means anybody. What is `personal` is said to a person, of what they do, have or plan, or to
    whoever else is there. What is `chatty` goes on from what people have just said, tells of what happened, or makes
    plans.
    """

    common: frozenset[str]
    asks: str
    seeks: str
    requests: str
    personal: str
    chatty: str
    general: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _wording(common: str, **patterns: str) -> Wording:
    """Return a language; where its words stand apart, of which some are common, questions begin with what asks."""
    patterns.setdefault("general", "(?!)")
    for name in ("asks", "seeks", "requests") if common else ():
        patterns[name] = rf"^(?:{patterns[name]})(?!\w)"
    for name in ("personal", "chatty") if common else ():
        patterns[name] = rf"(?<!\w)(?:{patterns[name]})(?!\w)"
    return Wording(common=_words(common), **patterns)


# Each line below is one list; breaking it would hide that.
# ruff: noqa: E501
ENGLISH = _wording(
    "a an and any are as at be been being but by can could again did do does doing done for from get go going got had happen happened happening happens has have here how i if in is it it's its just like many me mean means much my need no not now of on one or please should so some still that that's the them then there these they thing things this those to too up us was we were what what's when where which who why will with without work working works would wrong yes yet you your ok okay take takes say says see know think want try look looks feel come goes other another better best worse new next left best sure really",
    asks=r"how (?:do|does|can|could|should|would|to|is|are|long|much|many|often|big|large|small|fast|far|old)|what(?:'s| is| are| does| do| did| happens| about| if| kinds? of| types? of| should| can| would| \w+ (?:is|are|do|does|can|should))|where(?:'s| is| are| can| do| does| should)|why (?:is|are|does|do|did|can't|cannot|won't|doesn't|don't|isn't|aren't|can|would|should)|when (?:is|are|does|do|will|should|can)|which \w+(?: \w+)? (?:is|are|do|does|can|should|has|have)|which (?:is|are|of)|(?:is|are) there|(?:do|may|must|am) i|(?:can|could|should) i (?!come|join|borrow|have|see|sit|call|ask|say|tell|bring|help|get a|go|leave|be|buy|take)\w+|do we (?:need to|have to)|can we use|who (?:do i|can i|should i|is responsible|is in charge|maintains|wrote)|whose|any (?:way|example) (?:to|of)",
    seeks=r"how (?:do|does|can|could|should|would) i (?!know|tell|look|get there|get to)\w+|how to \w+|how (?:do|does|is|are|can) (?!i\b|you\b|we\b|they\b|it\b|that\b|this\b|those\b|these\b|things\b)\w+ .*\w|how (?:long|much|many|often|big|large|fast|old)(?: \w+){0,3} (?:do|does|is|are|can|should|may|must) (?!it\b|that\b|this\b|there\b|of\b)\w+|what (?:does|do) .+ mean|what (?:happens|do i|should i|must i)|what (?:is|are)|what's|what \w+(?: \w+)? (?:is|are|do|does|can|should) (?!it\b|that\b|this\b)\w+|where (?:do|can|should|must) i (?:find|get|see|put|set|change|download|upload|report|submit|register|send|configure|enable|disable|look up|file|apply)|where (?:is|are) .+ (?:located|stored|saved|kept|documented|found|described|defined|set|configured|logged|written)|which \w+(?: \w+)? (?:is|are|do|does|can|should|has|have) (?!it\b|that\b|this\b)\w+|why (?:is|are|do|does|can't|doesn't|isn't|won't) (?:\w+ ){3,}\w+|when (?:is|are|do i|does|will|can i|must i) (?!it\b|that\b|this\b|he\b|she\b)\w+ \w+|is it (?:possible|allowed|necessary|required) to|(?:is|are) there (?:a|an|any) (?:way|option|limit|setting|api|command|tool|guide|tutorial|manual|difference|example|template|minimum|maximum|plugin|sdk|cli)|(?:is|are|does|do|can|could|must|will) .*\b(?:supported|supports?|possible|required?|requires|allowed|allows?|available|included?|includes|compatible|necessary|mandatory|needed|deprecated|free of charge|be \w+(?:ed|en|t)|share|lose|count|cost)|can i (?:use|run|install|connect|change|configure|disable|enable|import|export|delete|remove|cancel|upload|download|access|set|customi[sz]e|combine|embed|deploy|migrate|reset|update|upgrade)|do (?:i|we) (?:need|have) (?:a|an|to)|who (?:do i contact|can i contact|should i contact|is responsible|is in charge|maintains)",
    requests=r"(?:please )?(?:explain|describe|summari[sz]e|compare|define|list|show me|tell me (?:about|how|what|why|where|which|when|more)|give me (?:an? (?:example|list|overview|summary|link)|examples|more|the exact)|walk me through|help me (?:with|understand|install|set up|to)|point me to|remind me (?:how|what|where))|(?:please )?(?:can|could|would|will) you (?:please |maybe |also |just |briefly |quickly )*(?:explain|describe|show|tell|summari[sz]e|compare|define|list|elaborate|clarify|give (?:me )?(?:an? |some |more |further )?(?:example|examples|details?|information|overview|list|summary|link|steps)|provide|walk me|point me|remind me|help me (?:with|understand|to))|i (?:need|want|would like|'d like) to (?:know|understand|learn)|(?:i'm|i am) (?:looking for|trying to find)|i (?:don't|do not) (?:understand|know) (?:how|what|where|why|which)|i wonder (?:how|what|where|why|which|whether|if)|(?:do you|does it) (?:know|support|say)",
    general=r"(?:how (?:do|can|would|should|could) you (?!like|feel|know|want|guys|think|all|mean)|\b(?:if|when|once|after|before|unless|while|until) you\b|\bthank you\b)",
    personal=r"you|u|ur|your|yours|yourself|you(?:'|’)(?:re|ve|ll|d)|y'?all|ya|guys|folks|anyone|anybody|someone|somebody|everyone|everybody|nobody|who(?:'s)?(?: else)?(?! (?:do i|can i|should i|is responsible|is in charge|maintains|wrote))|he|she|him|her|his|hers|dude|bro|mate|let'?s|shall (?:we|i)|should we|are we|were we|did we|didn't we|have we|can we(?! use)|could we|we (?:meet|go|talk|call|meeting|going)|when do we meet|tomorrow|tonight|yesterday|weekend|lunch|coffee|dinner|beer|beers|party|later today|last night|last week|(?:is|does|did|has|can|who|why|what) (?:this|the|that) bot|(?:the|this|that) bot$|(?:this|the|that) bot (?:is|does|just|even|actually|always|never|can|can't|didn't|got|did|doing)|i join|join us|come along|my (?:turn|place|desk|cable|laptop bag)|wanna|gonna|(?:is|isn't) that what|lol|lmao|rofl|haha+|wtf|omg|damn|coming|joining|around",
    chatty=r"(?:did|was|were|had|said|happened|went|going|meant|told)|right now|now|today|still(?! supported| available| possible)|yet|already|anymore|so far|so (?:funny|late|slow|quiet|long)|over there|next week|this week|what time|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:to|for|with) me|^(?:why|when|how|where|what) (?:is|are|does|do|can|will|would|should|has|have) (?:it|this|that|they|these|those)|^(?:is|are|does|do|can|will|would|could|should|has|have) (?:it|this|that|they|these|those) (?!possible|support|allowed|compatible|required|work with|run on)\w+|^why (?:not|bother)|^what(?:'s| is| are) the \w+$|^(?:what(?:'s| is)|where(?:'s| is)) (?:the|that|this) (?:\w+ )?(?:plan|weather|link|error|message|room|password|score|deal|point|story|status|problem|issue|matter|news|group|time|joke|address|file|thing|stuff)(?=$| like| with| going)|^(?:what|how) about|^what if|^which one|^how (?:is|are) (?:the|that|it|things|everything|life) (?!.*(?:ed|en|set|done|made|built|sent|kept|paid|run)$)|the bot$|(?:us|we|ours)|(?:is|are|was) (?:that|this|it|these|those|there)$|^how (?:bad|far|come|long until|good)|any (?:idea|ideas|luck|news|update|updates|plans|chance|suggestions|thoughts|volunteers)|people|weather|wifi|food|movie|game|boss|prof|professor|ta|tutor|teacher|lecturer|class|lecture|party|birthday|holiday|train|bus|seats?|slides|demo|meeting|standup|call|pr|your|ours|mine|too|either|instead|other (?:one|group|team|guy|guys)",
)
GERMAN = _wording(
    "aber alle als am an auch auf aus bei bin da dann das dass dem den denn der des die doch ein eine einen einer es es? etwas für gibt habe haben hat hier ich ihr im in ist ja kann kein keine mal man mehr mein meine mir mit muss nach nicht noch nur oder ohne schon sich sie sind so um und unter vom von vor war warum was wenn wer werden wie wird wo wann zu zum zur über",
    asks=r"(?:und |aber |also |ok |okay |hallo )?(?:wie (?!geil|cool|gesagt|immer|schön|blöd|geht'?s|geht es dir)\w+|was (?!ein|für ein|geht|soll's|meinst)\w+|wo \w+|wann (?!immer)\w+|warum \w+|wieso \w+|weshalb \w+|woher \w+|wohin \w+|welche[rsmn]? \w+|wozu \w+|womit \w+|wofür \w+|worin \w+|gibt es|muss ich|kann ich|darf ich|soll ich|kann man|muss man)",
    seeks=r"(?:und |aber |also |ok |okay |hallo )?(?:wie \w+ (?:ich|man)|wie (?:funktioniert|wird|werden)|wie (?:lange|viele?|oft|groß|hoch|schnell) (?:\w+ ){1,3}\w+|was (?:ist (?:der|die|das|ein|eine)|sind|bedeutet|bedeuten|heißt|passiert,? wenn|kostet|kosten)|wo (?:finde|kann|liegt|liegen|stehen|speichert|wird|werden|gibt es|muss ich|stelle)|wann (?:ist|endet|beginnt|wird|muss ich|sind) d\w+ \w+|warum (?:\w+ ){3,}\w+|welche[rsmn]? \w+(?: \w+)? (?:wird|werden|ist|sind|brauche|braucht|muss|kann|gilt|gelten|unterstützt|gibt)|gibt es (?:eine? |ein )?(?:möglichkeit|option|limit|grenze|einstellung|api|befehl|anleitung|unterschied)|ist es möglich|kann man|muss man|darf man|unterstützt .+|(?:ist|sind|wird|werden) .*(?:unterstützt|möglich|erlaubt|nötig|erforderlich|enthalten|verfügbar))",
    requests=r"(?:kannst|könntest|würdest) du (?:\w+ ){0,6}(?:erklären|zeigen|beschreiben|sagen|nennen|zusammenfassen|erläutern|auflisten)|(?:bitte )?(?:erkläre?|zeige?|beschreibe?|nenne?|vergleiche?|erläutere?|liste?) (?:mir |uns |bitte |die |den |das |alle )\w+|ich (?:suche|möchte wissen|will wissen|verstehe nicht)",
    personal=r"du|dir|dich|dein\w*|euch|euer|eure\w*|ihr (?:habt|seid|kommt|wollt|geht)|(?:habt|seid|kommt|wollt|geht|könnt) ihr|hast|bist|kannst|willst|kommst|warst|weißt|musst|hattest|jemand|wer|er|wollen wir|sollen wir|treffen wir|gehen wir|treffen|heute abend|gestern|wochenende|mittagessen|kaffee|feierabend|leute|echt jetzt|der bot|haha+|lol",
    chatty=r"hat (?:das|es|der|die|dein|schon)|war|waren|hatte|ging|gesagt|passiert|geklappt|heute|gerade|jetzt|noch immer|uhr|[a-zäöüß]+t ihr|bei (?:mir|dir|euch|uns)|für (?:mich|dich|euch)|montag|dienstag|alle(?: anderen)?|mittwoch|donnerstag|freitag|samstag|sonntag|tutor|prof|dozent|vorlesung|klausur heute|raum|zug|bus|chef|wetter|das da|der da|eigentlich so|(?!müss|könn|dürf)\w+en wir|mir|uns",
)
FRENCH = _wording(
    "a au aux avec c ce ces cette d dans de des du elle en est et faire il j je l la le les ma mais me mes moi mon n ne on ou où par pas plus pour qu que qui quoi s sa sans se si son sont sous sur un une y à ça être",
    asks=r"(?:et |mais |alors |ok |bonjour |salut )?(?:comment (?!ça va|tu|allez|vas)\w+|pourquoi \w+|où \w+|quand \w+|combien \w+|quel(?:le)?s? \w+|c['’]est quoi|qu['’]est[ -]ce qu\w*|est[ -]ce qu\w*|que (?:signifie|se passe|faire|veut)|à quoi|peut[ -]on|faut[ -]il|y a[ -]t[ -]il|existe[ -]t[ -]il|puis[ -]je|dois[ -]je)",
    seeks=r"(?:et |mais |alors |ok |bonjour |salut )?(?:comment (?:je|on|puis|peut|faire|fonctionne|(?:\w*['’])?\w+(?:er|ir|re))|pourquoi (?:\S+ ){3,}\S+|où (?:se trouve\w*|trouver|puis[ -]je|sont|est|peut[ -]on|je (?:trouve|peux)) ?\S*|combien (?:de|coûte|dure) ?\S+|quel(?:le)?s? (?:est|sont|\w+ (?:sont|est|faut|dois))|c['’]est quoi (?:un|une|la différence|le|les|l['’])|qu['’]est[ -]ce qu\w* (?:un|une|c['’]est)|que (?:signifie|se passe|faire)|est[ -]ce qu\S+ .*(?:possible|marche|fonctionne|pris|prend|faut|peut|supporte|compatible)|peut[ -]on|faut[ -]il|y a[ -]t[ -]il (?:une?|des) (?:moyen|limite|option|api|façon)|existe[ -]t[ -]il|puis[ -]je|dois[ -]je)",
    requests=r"(?:peux[ -]tu|tu peux|pouvez[ -]vous|pourrais[ -]tu|pourriez[ -]vous) (?:[\w'’-]+ ){0,5}(?:m['’]|l['’])?(?:expliquer|montrer|donner|décrire|dire|résumer|lister)|(?:explique|expliquez|montre|montrez|donne|donnez|décris|décrivez|résume|résumez|liste)(?:[ -]moi)? \w+|je (?:cherche|voudrais savoir|ne comprends pas)",
    personal=r"tu|te|toi|t['’]\w+|ton|ta|tes|vous|votre|vos|es[ -]tu|as[ -]tu|on se (?:voit|retrouve|capte)|on (?:va|mange|y va)|quelqu['’]un|qui (?:a|est|vient|veut|peut)|les gars|demain|hier|ce soir|week[ -]end|déjeuner|café|ah bon|mdr|ptdr|le bot",
    chatty=r"a (?:dit|marché|fait)|c['’]était|était|s['’]est passé|aujourd['’]hui|maintenant|en ce moment|quelle heure|pour (?:moi|toi|vous)|chez (?:toi|vous|moi)|prof|cours|réunion|salle|train|bus|météo|lundi|tous|tout le monde|mardi|mercredi|jeudi|vendredi|samedi|dimanche|\w+ons[ -]nous",
)
SPANISH = _wording(
    "a al aquí con como cuando de del el ella en es esa ese eso esta este esto está están ha hay la las le lo los mas me mi muy más no o para pero por que qué se ser si sin sobre son su sus también un una y ya yo",
    asks=r"(?:y |pero |entonces |hola |ok )?(?:cómo (?!est[aá]|vas|te va)\w+|qué (?!tal|haces|bueno|risa|lástima|guay|pasa|onda)\w+|cuál(?:es)? \w+|cuánt[oa]s? \w+|dónde \w+|cuándo \w+|por qué \w+|para qué \w+|hay (?:alguna?|una|un) (?:forma|manera|límite)|se puede|puedo|tengo que|debo)",
    seeks=r"(?:y |pero |entonces |hola |ok )?(?:cómo (?:se|puedo|hago|funciona|lo|la|\w+o|\w+r)|qué (?:es|son|significa|pasa si|\w+ (?:se|es|son|necesito|soporta\w*))|cuál(?:es)? (?:es|son) (?:el|la|los|las)|cuánt[oa]s? (?:\w+ )?(?:cuesta|dura|tarda|se|puedo|son|necesit\w+)|dónde (?:se|puedo|encuentro|está (?:el|la)|están (?:los|las))|cuándo (?:es|se|vence|termina|empieza) \w+|por qué (?:\w+ ){3,}\w+|hay (?:alguna?|una|un) (?:forma|manera|límite|opción|api)|se puede|es posible|soporta|(?:es|son|está|están) .*(?:posible|compatible|necesari[oa]|obligatori[oa]|gratis|incluid\w+|disponible)s?)",
    requests=r"(?:me |nos )?(?:puedes|podrías|puede|podría) (?:\w+ ){0,4}?(?:explicar\w*|mostrar\w*|dar\w*|decir\w*|describir\w*|resumir\w*)|(?:explica|explícame|explique|muestra|muéstrame|dime|dame|describe|resume|lista) \w+|(?:busco|quiero saber|no entiendo)",
    personal=r"tú|tu|tus|te|ti|contigo|usted|ustedes|vosotros|os|has|tienes|puedes|quieres|vienes|estás|eres|sabes|vas|crees|(?!existe|consiste|contraste|insiste|resiste)\w+(?:aste|iste)|alguien|quién(?:es)?|quedamos|vamos|nos vemos|mañana|ayer|esta noche|finde|almorzar|comer|café|en serio|(?:ja){2,}\w*|el bot|chicos",
    chatty=r"\w+ó|fue|era|dijo|hoy|ahora|qué hora|para (?:mí|ti)|a (?:mí|ti)|profe|profesor|clase|reunión|tren|bus|clima|lunes|todos|todas|martes|miércoles|jueves|viernes|sábado|domingo|\w+mos",
)
PORTUGUESE = _wording(
    "a ao aos as com como da das de do dos e ela ele em eu essa esse esta este está foi há isso isto já la lo mais mas me meu minha muito na nas no nos não o os ou para pela pelo por pra que se sem ser sobre são só também tem um uma é",
    asks=r"(?:e |mas |então |oi |ok |olá )?(?:como (?:eu|faço|fazer|se|posso|fa[zç]\w*|funciona|instal\w+|configur\w+|atualiz\w+)|o que (?:é|são|significa|acontece|faz|preciso)|onde (?:fica|encontro|posso|está|estão|eu|é)|qua(?:l|is) (?:\w+)|quant[oa]s? \w+|por ?qu[eê] (?:o|a|não|isso|meu|minha)|existe alguma?|dá para|tem como|posso|preciso|devo)",
    seeks=r"(?:e |mas |então |oi |ok |olá )?(?:como (?:eu|faço|fazer|se|posso|funciona|\w+ar|\w+er|\w+ir|\w+o (?:o|a|os|as|um|uma|isso))|o que (?:é|são|significa|acontece|preciso)|onde (?:fica|encontro|posso|são|é|estão (?:os|as)|está (?:o|a)|eu)|qua(?:l|is) (?:é|são|\w+ (?:são|é|devo|posso))|quant[oa]s? (?:\w+ )?(?:custa|dura|demora|preciso|posso|são)|por ?que (?:\w+ ){3,}\w+|existe alguma?|dá para|tem como|é possível|suporta|preciso (?:de|ter)|(?:é|são|está) .*(?:possível|compatível|necessári[oa]|obrigatóri[oa]|grátis|incluíd\w+|disponíve\w+))",
    requests=r"(?:você |vc )?(?:pode|poderia|consegue) (?:\w+ ){0,4}?(?:explicar|mostrar|dar|dizer|descrever|resumir|listar)|(?:me )?(?:explique|explica|mostre|mostra|descreva|diga|liste|resuma) \w+|(?:procuro|quero saber|não entendi)",
    personal=r"você|vocês|vc|vcs|tu|te|teu|tua|contigo|conseguiu|terminou|fez|tentou|alguém|quem|a gente|bora|vamos|amanhã|ontem|hoje à noite|fim de semana|almoçar|almoço|café|sério|kk+|rs+|o bot|galera|pessoal",
    chatty=r"deu|foi|era|disse|falou|rolou|\w+ou|hoje|agora|que horas|pra (?:mim|você)|aí|aula|reunião|prof|professor|ônibus|tempo lá|segunda|todos|todo mundo|terça|quarta|quinta|sexta|sábado|domingo|\w+mos",
)
ITALIAN = _wording(
    "a ai al alla anche c che chi ci come con cos cosa da dal dei del della di e ed fa gli ha ho i il in io l la le lo ma me mi mio nel nella no non o per perché più qui quello questo se si sono su sul un una uno è",
    asks=r"(?:e |ma |allora |ciao |ok )?(?:come (?!va|stai|state|mai\b)\w+|cos['’]è|cosa (?:è|significa|succede|sono|serve|devo)|che cos\w*|che differenza|dove (?!sei|siete|andate)\w+|qual['’]? è|quali \w+|quant[oaie] \w+|perché (?:non|il|la|mi|l)|quando (?:è|si|scade|devo|inizia)|si può|posso|devo|c['’]è (?:un|una))",
    seeks=r"(?:e |ma |allora |ciao |ok )?(?:come (?:si|posso|faccio|funziona|\w+o (?:il|la|lo|i|gli|le|un|una|l)|\w+re)|cos['’]è|cosa (?:è|significa|succede|sono)|che (?:cos['’]è|differenza)|dove (?:si|trovo|posso|è (?:il|la|lo)|sono (?:i|gli|le) \w+|vengono)|qual['’]? è (?:il|la|lo|l)|quali (?:\w+ )?(?:sono|posso|devo|servono)|quant[oaie] (?:\w+ )?(?:costa|dura|posso|serve|servono|sono)|perché (?:\w+ ){3,}\w+|quando (?:scade|devo|inizia|si)|si può|è possibile|c['’]è un(?:a|o)? (?:modo|limite|opzione|api)|supporta|(?:è|sono) .*(?:possibile|compatibil\w+|necessari[oa]|obbligatori[oa]|gratis|inclus\w+|disponibil\w+|supportat\w+))",
    requests=r"(?:mi |ci )?(?:puoi|potresti|può|potrebbe) (?:\w+ ){0,4}?(?:spiegar\w*|mostrar\w*|dar\w*|dir\w*|descrivere|riassumere|elencare)|(?:spiega\w*|mostra\w*|dammi|dimmi|descrivi|elenca|riassumi) \w+|(?:cerco|vorrei sapere|non capisco)",
    personal=r"tu|ti|te|tuo|tua|tuoi|tue|hai|sei|vieni|puoi|vuoi|sai|riesci|stai|avete|siete|voi|vi|qualcuno|chi|ci vediamo|andiamo|domani|ieri|stasera|weekend|pranzo|caffè|davvero|ragazzi|ahah\w*|il bot",
    chatty=r"è (?:andat|success|stat)\w*|ha (?:detto|fatto|funzionato)|era|oggi|adesso|ora|che ora|per (?:me|te|voi)|prof|lezione|riunione|treno|autobus|tempo fa|lunedì|tutti|martedì|mercoledì|giovedì|venerdì|sabato|domenica|\w+iamo",
)
DUTCH = _wording(
    "aan al alle als bij dan dat de deze die dit door een en er gaat geen heb hebben heeft het hier hoe ik in is je kan maar me met mij mijn moet naar niet nog nu of om onder ook op over te tot uit van voor wat we wel werkt worden wordt ze zijn zo",
    asks=r"(?:en |maar |ok |hoi |dus )?(?:hoe (?!leuk|gaat het|dan|was|is het met)\w+|wat (?!een|leuk|jammer|doe|bedoel)\w+|waar (?!ben|zijn jullie)\w+|wanneer \w+|waarom \w+|welke? \w+|hoeveel \w+|waarvoor \w+|waarmee \w+|is er|zijn er|kan ik|moet ik|mag ik)",
    seeks=r"(?:en |maar |ok |hoi |dus )?(?:hoe (?:\w+ (?:ik|je|men)|werkt|werken|wordt|worden)|hoe (?:lang|veel|vaak|groot) (?:\w+ ){1,3}\w+|hoeveel (?:\w+ )?(?:kost|duurt|heb ik|mag|is|zijn)|wat (?:is (?:de|het|een)|zijn (?:de|het)|betekent|betekenen|gebeurt er als|kost)|waar (?:vind|kan ik|staan de|staat (?:de|het)|wordt|worden|moet ik)|wanneer (?:is|moet ik|begint|eindigt) \w+ \w+|waarom (?:\w+ ){3,}\w+|welke \w+ (?:wordt|worden|is|zijn|heb ik|kan|moet|gelden)|is het mogelijk|is er een (?:manier|limiet|optie|api)|kan ik (?:\w+ ){2,}\w+|wordt .+ ondersteund|ondersteunt .+)",
    requests=r"(?:kun|kan|zou) (?:je|jij|u) (?:\w+ ){0,5}(?:uitleggen|laten zien|beschrijven|vertellen|geven|samenvatten|noemen)|(?:leg|toon|laat|beschrijf|vertel|geef|vergelijk|noem) (?:me |mij |uit |het |de )?\w+|ik (?:zoek|wil weten|begrijp niet)",
    general=r"(?:hoe|waar|wanneer) (?:kan|kun|moet|kon) je\b",
    personal=r"jij|je|jou|jouw|jullie|u|uw|iemand|wie|hij|zullen we|gaan we|morgen|gisteren|vanavond|weekend|lunch|koffie|echt waar|de bot|jongens|haha+",
    chatty=r"was|waren|had|heeft (?:hij|zij|ze)|ging|gezegd|gebeurd|gelukt|vandaag|nu|hoe laat|bij (?:jou|jullie|mij|ons)|voor (?:jou|mij)|prof|docent|college|trein|bus|weer daar|maandag|iedereen|allemaal|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|(?!moet|kunn|mog)\w+en we",
)
POLISH = _wording(
    "a ale bez by być co czy dla do gdy go i ich jak jako jest je już ma mam mi mnie może można na nie niż o od po pod przez przy się są ta tak tam te to tu tylko w we z za ze że żeby",
    asks=r"(?:a |i |ale |no |ok |hej |cześć )?(?:jak (?!dla mnie|tam|leci|się masz|zwykle|mówiłem)\w+|co (?:to jest|oznacza|znaczy|robi|się stanie|zrobić|jest)|gdzie (?!jesteś|idziesz|siedzi)\w+|kiedy \w+|dlaczego \w+|czemu \w+|ile \w+|jak(?:i|a|ie|ich) \w+|któr\w+ \w+|czy (?!ty|wy|ktoś)\w+)",
    seeks=r"(?:a |i |ale |no |ok |hej |cześć )?(?:jak (?:\S+ ){0,2}?(?:\w+ć|mogę|można|działa|się|\w+[ęm])(?: \S+)+|co (?:to jest|oznacza|znaczy|się stanie,? (?:jeśli|gdy)|robi)|gdzie (?:mogę|można|znajdę|znaleźć|są zapis\w+|jest zapis\w+|znajduje się|znajdują się)|kiedy (?:jest termin|mija|kończy się|zaczyna się) ?\S*|dlaczego (?:\S+ ){3,}\S+|ile (?:kosztuje|trwa|wynosi|\w+ (?:mogę|można|jest|potrzeb\w+))|jak(?:i|a|ie|ich) (?:jest|są|\w+ (?:\w+ )?(?:jest|są|obsługuje\w*|muszę|mogę|można))|czy (?:można|da się|jest możliw\w+|mogę \w+ \S+|.*(?:obsługuj\w+|dostępn\w+|wymagan\w+)))",
    requests=r"(?:czy )?(?:możesz|mógłbyś|mogłabyś) (?:\w+ ){0,4}?(?:wyjaśnić|pokazać|opisać|podać|powiedzieć|wytłumaczyć|wymienić)|(?:wyjaśnij|pokaż|opisz|podaj|powiedz|wytłumacz|porównaj|wymień) \w+|(?:szukam|chcę wiedzieć|nie rozumiem)",
    personal=r"ty|ci|cię|ciebie|tobie|twój|twoja|twoje|wy|wam|was|masz|jesteś|możesz|wiesz|idziesz|chcesz|będziesz|\w+(?:łeś|łaś|liście|łyście)|ktoś|kto|idziemy|spotykamy|jutro|wczoraj|wieczorem|weekend|obiad|kawę|serio|naprawdę|bot|haha+|ludzie",
    chatty=r"było|był|była|\w{3,}(?:ł|ła|ło|li|ły)(?: się)?|dzisiaj|dziś|teraz|o której|u (?:ciebie|mnie|was)|dla (?:ciebie|mnie)|prof|wykład|zajęcia|spotkanie|pociąg|autobus|pogoda|poniedziałek|wszyscy|wtorek|środę|czwartek|piątek|sobotę|niedzielę|\w+my",
)
TURKISH = _wording(
    "ama ancak bana ben beni benim bir bu bunu bunun da daha de değil diye en gibi hem her için ile iki ise mı mi mu mü ne o olan olarak oldu olur onu peki sonra şey şu tüm var ve veya ya yok çok",
    asks=r".*?\b(?:nasıl (?!sın|gidiyor)|nasıl$|nedir|nerede|nereden|nereye|ne zaman|neden|niçin|niye|hangi|kaç|ne kadar|ne demek|ne işe yarar)\w*",
    seeks=r".*?\b(?:nasıl (?:\S+ )?\S*(?:[ıiuüae]r[ıiuü]m|[ıiuü]l[ıiuü]r|n[ıiuü]r|l[ıiuü]r|ebilirim|abilirim|çalışır|yapılır)|nedir|ne demek|ne işe yarar|neden (?:\S+ ){2,}\S+|hangi \S+ \S*(?:destekl\S*|gerek\S*|kullan\S*)|hangi \S+ \S+ \S+|nerede (?:sakl\S*|bul\S*|kayd\S*|yer al\S*)|kaç (?:\S+ ){2,}\S+|ne kadar (?:\S+ ){1,}\S+|nereden (?:indir\S*|bul\S*|al\S*)|mümkün mü|destekleniyor mu|destekliyor mu)",
    requests=r"(?:\S+ ){0,8}(?:açıkla\w*|anlat\w*|örnek ver\w*|listele\w*|özetle\w*|göster\w*)",
    personal=r"sen|sana|seni|senin|siz|size|sizin|sizde|m[ıiuü]s[ıiuü]n(?:[ıiuü]z)?|\w+[dt][ıiuü]n(?:[ıiuü]z)? m[ıiuü]|kim|kimse|beyler|arkadaşlar|yarın|dün|akşam|hafta sonu|öğle yemeği|kahve|gerçekten mi|cidden|haha+|bot",
    chatty=r"\w+[dt][ıiuü](?:n|nız|k|lar|ler)?(?: m[ıiuü])?|sende|bende|bugün|şimdi|saat kaç|kaçta|hoca|ders|toplantı|otobüs|tren|hava|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar|\w+[ae]l[ıi]m",
)
RUSSIAN = _wording(
    "а бы в вот все да для до его если есть ещё же за и из или их к как ко ли мне на надо не нет но ну о он она они от по под при с так там то тоже только у уже что это этот я",
    asks=r"(?:а |и |но |ну |привет |ок )?(?:как (?!раз|обычно|дела|же|ты|вы|прошл)\S+|что (?:такое|значит|делать|делает|означает|будет если|будет, если)|где (?!ты|вы)\S+|когда \S+|почему \S+|зачем \S+|как(?:ой|ая|ие|ое|ов|ова|овы) \S+|сколько \S+|куда \S+|откуда \S+|можно ли|нужно ли|есть ли|чем отличается\S*|поддерживает\S*|можно|нужно|чем \S+)",
    seeks=r"(?:а |и |но |ну |привет |ок )?(?:как (?:мне |я |можно |правильно |(?:\S+ )?)?(?:\w+(?:ть|ти|чь|ться)|работает|могу)(?: \S+)*|что (?:такое|значит|означает|делает|будет,? если)|где (?:хран\w+|наход\w+|найти|можно|скачать|лежит|посмотреть|взять|сохраня\w+) ?\S*|почему (?:\S+ ){3,}\S+|как(?:ой|ая|ие|ое|ов|ова|овы) (?:\S+ )*(?:поддерж\w+|нуж\w+|требу\w+|срок|размер|минимальн\w+|максимальн\w+|лимит|разниц\w+|верси\w+|порт\w*|формат\w*)|сколько (?:стоит|длится|хран\w+|\w+ (?:можно|нужно|хран\w+))|можно ли|нужно ли|есть ли (?:способ|лимит|ограничен\w+|возможность|api)|чем отличается\S*|поддерживает\S*)",
    requests=r"(?:пожалуйста )?(?:ты )?(?:можешь |можете |мог бы ты )?(?:объясни\S*|расскажи\S*|покажи\S*|показать|объяснить|рассказать|опиши\S*|приведи\S*|сравни\S*|перечисли\S*) \S+|(?:ищу|хочу узнать|не понимаю как|не могу понять)",
    personal=r"ты|тебя|тебе|тобой|твой|твоя|твои|твоё|твою|вы|вам|вас|ваш\w*|кто|кто-нибудь|кто-то|ребята|ребят|мы|пойдём|пойдем|завтра|вчера|вечером|выходн\w+|обед|кофе|серьёзно|серьезно|правда|с каких пор|бот|аха\w*|хаха\w*",
    chatty=r"было|был|была|\w{3,}(?:л|ла|ло|ли)(?:сь|ся)?|сегодня|сейчас|во сколько|у (?:тебя|меня|вас)|препод\w*|лекци\w+|пара|встреч\w+|поезд|автобус|погода|понедельник|все|вторник|среду|четверг|пятницу|субботу|воскресенье|\w{3,}(?:ем|им)(?:ся)?",
)
GREEK = _wording(
    "από για δεν είναι έχει η και με μια μου να ο οι όχι που σε στη στην στο στον τα τη την της τι το τον του των αυτό",
    asks=r"(?:και |αλλά |γεια )?(?:πώς (?!είσαι|πάει|τα πας)\S+|τι (?:είναι|σημαίνει|κάνει|γίνεται αν|πρέπει)|πού (?!είσαι|πας)\S+|πότε \S+|γιατί \S+|ποι(?:ο|α|ος|ες|οι|ον) \S+|πόσ(?:ο|α|η|ες|οι) \S+|υπάρχει|μπορώ|πρέπει)",
    seeks=r"(?:και |αλλά |γεια )?(?:πώς (?:μπορώ|να|γίνεται|λειτουργεί|\S+[ωώ])(?: \S+)+|τι (?:είναι|σημαίνει|γίνεται αν)|πού (?:βρίσκ\S+|μπορώ|αποθηκεύ\S+|είναι αποθηκ\S+)|γιατί (?:\S+ ){3,}\S+|ποι(?:ο|α|ες|οι) (?:είναι|\S+ (?:υποστηρ\S+|χρειάζ\S+|είναι))|πόσ(?:ο|α|η|ες|οι) (?:κοστίζει|διαρκεί|\S+ \S+)|υπάρχει (?:τρόπος|όριο)|μπορώ να|είναι δυνατόν|υποστηρίζ\S+)",
    requests=r"(?:μπορείς να )?(?:μου )?(?:εξήγησ\S*|εξηγήσεις|δείξε|δείξεις|περίγραψε|πες) \S+|ψάχνω|θέλω να μάθω",
    personal=r"εσύ|εσένα|σου|εσείς|σας|τελείωσες|έκανες|έχεις|είσαι|θέλεις|μπορείς|έρχεσαι|δοκίμασες|πήγες|κανείς|κάποιος|ποιος έχει|παιδιά|αύριο|χθες|απόψε|καφέ|αλήθεια|σοβαρά|το bot",
    chatty=r"ήταν|είπε|έγινε|σήμερα|τώρα|τι ώρα|μάθημα|λεωφορείο|καιρός|\w+ουμε|\w+άμε",
)
CHINESE = _wording(
    "",
    asks=r"怎么(?!了|样[？?]?$|回事[？?]?$|会这样)|怎样|如何|什么是|是什么|什么意思|哪里|哪儿|在哪|为什么(?!.{0,1}$)|为何|多少|多久|多长|多大|哪个|哪些|哪种|能不能|可不可以|是否|有没有|什么时候|有什么|区别",
    seeks=r"怎么(?!了|样|回事|会|还|又|不)\S{2,}|怎样\S{2,}|如何\S{2,}|什么是|是什么(?!东西|意思啊)|什么意思|(?:存放|保存|存储|位于|安装|下载|找到|设置|查看)\S{0,6}(?:哪|什么地方)|(?:哪里|在哪)(?:可以|能|下载|找|看|设置)|为什么\S{6,}|(?:多少|多久|多长|多大)\S{0,8}(?:费|钱|时间|限|保留|有效)|哪些\S{2,}|哪种\S{2,}|(?:能不能|可不可以|可以|能|是否)\S{4,}|(?:支持|包含|需要|提供)\S{2,80}?吗|区别|最大|最小|默认",
    requests=r"(?:请|请你|你能|你可以|能不能|可以)?(?:帮我|给我)?(?:解释|说明|介绍|举个例子|举例|列出|告诉我)",
    personal=r"你|您|大家|谁|咱|我们(?:去|见|吃|约|走|聚)|一起|明天|昨天|今晚|周末|吃饭|午饭|咖啡|真的吗|哈哈|机器人(?:真|好|又)|同学们",
    chatty=r"了吗|过吗|了没|几点|现在|今天|老师|上课|开会|下班|天气|聚|这边|那边|这个吗|那个|刚才|怎么办",
)
JAPANESE = _wording(
    "",
    asks=r"どうやって|どうすれば|どうしたら|どのように|方法|とは(?!いえ|思)|何(?:が|を|の|で|です|か|ですか|個|回|時間)|どこ(?:で|に|から|です)|いつ(?:まで|から使|です)|なぜ|どの|どれ|いくつ|いくら|できますか|ありますか|必要ですか|違い|サポートされて|対応して",
    seeks=r"方法|とは(?!いえ|思)|(?:何|なに|どこ|いつ|なぜ|どの|どれ|いくつ|いくら|どう|どのように)\S{0,80}?(?:ですか|ますか|でしょうか)|(?:でき|使え|あり|必要|可能|含まれ|対応して|サポートされて)\S{0,80}?(?:ますか|ですか)|どう(?:やって|すれば|したら)\S{2,}|違いは",
    requests=r"教えて(?:ください|下さい|ほしい|$)|もう少し詳しく|説明して|例を(?:見せて|示して|挙げて)|知りたい|まとめて",
    personal=r"あなた|きみ|君(?:は|も|の)|お前|みんな|皆さん|誰|だれ|\w(?:さん|くん|ちゃん)(?:は|も|、|の|$)|終わった|来る[？?の]|やった[？?の]|した[？?]|行く[？?の]|行かない|できた[？?]|大丈夫[？?]|明日|昨日|今夜|週末|ランチ|コーヒー|本当[？?に]|マジ|まじ|ボット(?:すご|は|が)|笑$|ｗ|草$|一緒に",
    chatty=r"何時|今日|今(?:は|から|どこ)|先生|授業|会議|集ま|天気|ました[かけ]?|でした|だった|したの|これ(?:は|、|で)|それ(?:は|、|で)",
)
KOREAN = _wording(
    "",
    asks=r"어떻게(?! 지내| 생각)|무엇|뭔가요|뭐예요|뭐죠|무슨 (?:뜻|차이|버전|파일)|어디(?:서|에서|에 있)|언제(?:까지| 나오| 마감)|왜 .|어느|어떤|얼마|몇|방법|차이|있나요|되나요|하나요|인가요|가능한가요|필요한가요|건가요|할 수 있",
    seeks=r"^(?>.*?(?:어떻게|무엇|뭐|뭔|무슨|어디|언제|왜|어느|어떤|얼마|몇|지원|가능|포함|필요|있|되|차이|방법)).*(?:나요|가요|습니까|ㅂ니까|인지|는지|예요|죠)[ ?？]*$|방법(?:은|이)?[ ?？]*$|차이(?:는|가)?[ ?？]*$",
    requests=r"알려 ?(?:줘|주|달)|설명해|예를 들어|예시|보여 ?(?:줘|주)|정리해|궁금",
    personal=r"(?:^|\s)(?:너|넌|니|네|너희|니가|네가)(?:는|도|가|의|한테)?(?:\s|$)|당신|누구|누가|우리|여러분|다들|[가-힣]{2,4}(?:씨|님)[ ,은는도]|[가-힣]{1,3}[아야],|했어|왔어|갈래|할래|갈까|먹을|됐어|끝났어|내일|어제|오늘 저녁|주말|점심|커피|진짜[?？요]|정말[?？요]|ㅋㅋ|ㅎㅎ|봇이",
    chatty=r"몇 시|오늘|지금|교수님|수업|회의|날씨|(?:만날|볼|갈|할|먹을|살)까|[가-힣](?:았|었|였|했)(?:어|나|니|지|죠|는)|그거|이거",
)
ARABIC = _wording(
    "",
    asks=r"كيف (?!حال|الحال)|كيفية|وكيف|ما هو|ما هي|ماهو|ماهي|ما الفرق|ما معنى|ماذا (?:يعني|يحدث|أفعل)|أين (?!أنت|انت)|متى (?:ي|ت|موعد|آخر)|لماذا|كم |أي (?:إصدار|ملف|نوع)|هل (?:يوجد|يمكن(?!ك)|هناك|يدعم|يعمل|تعمل|يجب|أحتاج|أستطيع|من الممكن)",
    seeks=r"كيف (?:أ|ي|ت|ن|يمكن)\S+|كيفية \S+|ما (?:هو|هي|الفرق|معنى|الحد)|ماهو|ماهي|ماذا يحدث (?:إذا|عند|لو)|أين (?:ي|ت|أ|يمكن)\S+ .*|متى (?:ي|ت|موعد|آخر)\S*|لماذا (?:\S+ ){2,}\S+|كم (?:ي|ت|عدد|مدة|حجم)\S*|أي (?:إصدار|ملف|نوع|صيغ)|هل (?:يوجد (?:حد|طريقة|خيار)|يمكن(?!ك)|هناك (?:حد|طريقة|خيار)|يدعم|تدعم|يجب|من الممكن)",
    requests=r"اشرح|وضح|أعطني|اعطني|أخبرني|اذكر|هل يمكنك (?:أن )?(?:تشرح|شرح|توضيح|توضح)|أريد أن أعرف",
    personal=r"أنت(?:م|ِ)?(?:\s|$|؟)|انت(?:\s|$|؟)|عندك|معك|هل (?:أنهيت|انتهيت|فعلت|رأيت|جربت|ستأتي|تستطيع|لديك|عملت|كنت|ذهبت|حضرت)|من منكم|أحد(?:كم)?\s|مين|شباب|يا \S+|غدا|غدًا|أمس|الليلة|الغداء|قهوة|حقا|حقًا|جد[اً]*؟|هه+|البوت",
    chatty=r"نلتقي|الساعة|اليوم|الآن|الان|الأستاذ|الدكتور|المحاضرة|الاجتماع|الطقس|نجحت|حدث|قال|كان|هذا؟|ذلك",
)
HINDI = _wording(
    "",
    asks=r"कैसे (?!हो|हैं)|क्या है|क्या होता|क्या होगा|क्या मतलब|कहाँ (?!हो)|कहां (?!हो)|कब (?:तक|है|होगा|आएगा)|क्यों (?:नहीं|होता|हो|है|आता|आ)|कौन ?-?स[ाीे]|कितन|किस (?:फ|व|त)|^(?>.*?क्या ).*(?:सकता|सकते|सकती|ज़रूरी|जरूरी|सपोर्ट)|क्या फर्क|अंतर",
    seeks=r"कैसे (?!हो|हैं|था|थे|रह)\S+|क्या (?:है|होता|होती|मतलब|फर्क)|क्या होगा (?:अगर|यदि)|कहाँ (?:से|पर|सेव|मिल|रख|स्टोर)|कहां (?:से|पर|सेव|मिल|रख|स्टोर)|कब तक|क्यों (?:\S+ ){1,}\S+|^(?>.*?कौन ?-?स[ाीे] ).*(?:सपोर्ट|फ|ज़रूरी|जरूरी|वर्ज)|^(?>.*?कितन[ाीे] ).*(?:सकत|लगत|चाहिए|होत|है)|अंतर|^(?>.*?क्या ).*(?:सकता|सकते|सकती|ज़रूरी|जरूरी|सपोर्ट|संभव)",
    requests=r"समझाओ|समझाइए|समझाएं|बताओ|बताइए|बताएं|उदाहरण|जानना (?:है|चाहता|चाहती)",
    personal=r"तुम|तू |तेर[ाीे]|आपने|आपक[ाीे]|आप (?:आ|क्या|कब|कहाँ)|कौन (?!सा|सी|से|-)|किसी(?:ने| को| के)|भाई|यार|दोस्त|हम लोग|चलो|कल |आज रात|वीकेंड|खाना|चाय|सच में|सच्ची|हाहा|बॉट",
    chatty=r"बजे|मिलना|मिलते|मिलेंगे|आज |अभी|सर |मैम|क्लास|लेक्चर|मीटिंग|मौसम|हुआ|हुई|गया|गई|किया|(?<!\S)(?:था|थी|थे)(?!\S)",
)
SPACED = (
    ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH, POLISH, TURKISH,
)  # fmt: skip
"""Languages in Latin letters, which are told apart by their common words."""
SCRIPTS: tuple[tuple[re.Pattern[str], Wording], ...] = (
    (re.compile(r"[\u3040-\u30ff]"), JAPANESE),
    (re.compile(r"[\u4e00-\u9fff]"), CHINESE),
    (re.compile(r"[\uac00-\ud7af]"), KOREAN),
    (re.compile(r"[\u0400-\u04ff]"), RUSSIAN),
    (re.compile(r"[\u0370-\u03ff]"), GREEK),
    (re.compile(r"[\u0600-\u06ff]"), ARABIC),
    (re.compile(r"[\u0900-\u097f]"), HINDI),
)
"""Languages that are known by their letters, each before those whose letters it uses as well."""

THANKS = _words(
    "thanks thank thx thnx ty tysm tyvm cheers appreciated danke dankeschön dank merci gracias grazie obrigado obrigada valeu vlw bedankt dankje dzięki dziękuję teşekkürler teşekkür sağol спасибо благодарю спс ευχαριστώ شكرا شكراً धन्यवाद शुक्रिया tack takk tak kiitos köszönöm díky děkuji mulțumesc hvala дякую תודה terima kasih arigato"
)
ACKNOWLEDGED = THANKS | _words(
    "ok okay okey oki k kk okidoki alright right sure yes yeah yep yup yea ya no nope nah nice cool great good perfect awesome amazing excellent wonderful brilliant neat sweet super fine lovely lol lmao rofl xd haha hehe wow woah oh ah aha ahh ohh hm hmm hmmm mhm uh um got it gotcha understood i see makes sense that helps helped helpful worked works for the your help so much very a lot you u all again everyone everybody guys man mate bot team works now and is was that's it's brb np yw welcome no problem worries done noted congrats gg +1 "
    "ja nein jo jep klar genau stimmt passt gut prima toll klasse danke dir euch vielen lieben sehr schön alles verstanden achso ach so "
    "oui non d'accord daccord merci beaucoup super génial parfait top bien compris ah mdr ptdr "
    "sí si vale claro muchas gracias perfecto genial bueno bien entendido listo jaja jajaja "
    "sim não certo beleza muito obrigado obrigada perfeito entendi legal ótimo bom kkk kkkk "
    "sì certo va bene perfetto capito mille grazie ottimo bello "
    "nee prima mooi goed leuk begrepen dank je wel hartelijk "
    "tak nie dobra spoko super jasne rozumiem bardzo dziękuję świetnie "
    "tamam evet hayır harika süper anladım çok ederim eyvallah "
    "да нет ага ок хорошо понятно понял поняла ясно отлично супер круто большое класс "
    "ναι όχι εντάξει ωραία τέλεια κατάλαβα πολύ "
    "شكرا جزيلا جزيلاً لك نعم لا تمام ممتاز حسنا حسناً فهمت "
    "हाँ हां नहीं ठीक है अच्छा समझ गया गई बहुत आपका"
)
"""Words that take note of something, of which a whole message can consist."""
THANKS_APART = re.compile(r"谢谢|多谢|感谢|ありがと|助かりま|감사|고마워|고맙|ขอบคุณ")
ACKNOWLEDGED_APART = re.compile(
    r"(?:谢谢|多谢|感谢|非常|你们?|您|大家|啦|了(?:解(?:しました)?)?|哈|好的?|嗯|收到|明白|懂|可以|行|厉害|太|棒|ありがとう?|ございま(?:す|した)|助かりました|なるほど|はい|わかりました|おけ|すごい|ですね?|感謝|감사(?:합니다|해요)?|고마워요?|고맙습니다|네|넵|예|알겠(?:습니다|어요)|좋(?:아요|네요)|대박|오|ㅋ|ㅎ|정말|진짜)++"
)
COMPLAINT = re.compile(
    r"(?<!\w)(?:but|still|doesn't|didn't|not|error|fails?|can't|cannot|won't|aber|mais|pero|mas|ma|maar|ale|но|ama)(?!\w)"
)
REACTION = re.compile(
    r"(?:(?:oh|ah|wait|hm+|um|uh|wow|ok|and|so|echt|ach|a|et|y|e|en|и|но|да) )*(?:really|seriously|srsly|for real|what|huh|wtf|eh|right|is it|is that so|is that true|no way|since when|are you sure|you sure|sure|why not|says who|who says|true|and|so what|or|echt|wirklich|im ernst|seit wann|ach ja|stimmt das|vraiment|sérieux|ah bon|depuis quand|en serio|de verdad|desde cuándo|sério|é mesmo|mesmo|davvero|sul serio|da quando|serio|naprawdę|od kiedy|gerçekten mi|cidden mi|ne zamandan beri|серьёзно|серьезно|правда|с каких пор|αλήθεια|σοβαρά|echt waar|sinds wanneer|真的|是吗|真的吗|真的假的|什么|啊|本当|本当に|ほんと|まじ|マジ|マジで|え|いつから|진짜|진짜요|정말|정말요|حقا|حقًا|منذ متى|सच|सच में|कब से)(?: really| though)?"
)
NOT_NAMES = _words(
    "ok okay hey hi hello hallo so well also sorry thanks danke merci gracias and but yes no yeah anyway btw fyi question quick frage pregunta domanda pergunta vraag pytanie please also now then first second finally again und aber also oui non sí sì bonjour salut ciao hola olá oi hoi cześć hej bot footnote edit update ps note actually basically hmm oh ah wow great nice cool perfect right alright guys all everyone windows linux macos python docker help"
)
"""Words with which messages begin, in front of a comma or colon, that are nobody's name."""
