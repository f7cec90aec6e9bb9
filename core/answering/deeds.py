"""Finds sentences by which a model claims to have done something, such as to have sent a message, in four languages.

It can do nothing unless a tool says so. What it can do is find, read and write: so a sentence in the first person is
such a claim unless its verb is one of these few, as nobody can list all that could be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

_LONGEST, _OPEN = 400, 140  # characters of a sentence that are looked at, and in which it shows whether it is one
_ENOUGH = re.compile(r"(?:\S+\s+){9}")  # words behind its first one in which that shows as well
_FEW = 3  # words of a sentence that says nothing without the next one
_SHORT, _NEAR = 10, 60  # words of a note, and characters behind "your" within which it says of what
_END = re.compile(
    r"[.!?…\n](?:(?<=\n)"
    r"|(?=\s|\Z)(?!\s[a-zäöüáéíóúñ])(?<!\bDr.)(?<!\bMr.)(?<!\bMs.)(?<!\bMrs.)(?<!\bFr.)(?<!\bProf.)"
    r"(?!(?<=\d.)\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))"
)
_CLAUSE = re.compile(r"(?:[^,;:()–—]|[,:](?=\S))+")
_AND = re.compile(r"\s(?:and|und|y|et)\s")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_FINITE = "werden|wird|will|gets?|sera|seront|será|serán"
_OPENED = r"\W*(?:(?:all|you.re all) set|done|listo|hecho|erledigt|fertig|c.est fait|\w{2,}(?:e[dt]|iert|[ai]d[oa]s?|és?)(?=!))\s?[!.:–—-]\W*\w"
_ABLE = r"can|now (?:run|open|start|try)|should|need|must|puedes?|debes?|kannst|können|musst|pouvez|peux|if|si|wenn"
_CHECKED = re.compile(r"\W*[✅☑✔🎉📅📌🔔]")
_LIKE_SMALL = str.maketrans("İıſ", "iis")  # the only letters that are others in small ones, and look like them
_QUOTED = re.compile(
    r"“[^“”\n]{0,200}+”|„[^„“”\n]{0,200}+[“”]|«[^«»\n]{0,200}+»|»[^«»\n]{0,200}+«|\"[^\"\n]{0,200}+\""
    r"|(?<!\w)['‘][^'’\n]{0,200}+['’](?!\w)"
)


@dataclass(frozen=True, eq=False)
class _Language:
    """How deeds are told in one, in patterns of words in small letters; verbs and things are given by how they begin.

    It is known by its `common` words. A claim begins with one of the `first` ones, or with what is often `arranged`.

    It may tell who did it: the bot `itself`, or `ours`, several for the reader. Behind that, and what may stand
    `between`, or at the end of the clause (`is_last`), comes a verb that looks like one that is `done`; one that is
    `alone` has nobody before it. What one `reads` is no deed, and what one `writes` is none where it is one of the
    `parts` of an answer, unless that is in other `places`. What the bot `promises` is no better.

    Or it tells what was done, in the `perfect` or the `present` tense, to `things` that are `yours`, to what is arranged,
    to anything where that is `news`, or, in the perfect tense, to `you` and what is yours; there, `idioms` do for a verb.
    With who it was done `by`, it is no claim, and neither is what is `conditional` or `denied`.
    """

    common: str
    first: str
    promises: str
    itself: str
    ours: str
    yours: str
    you: str
    perfect: str
    present: str
    things: str
    arranged: str
    news: str
    idioms: str
    conditional: str
    by: str
    denied: str
    between: str
    done: str
    reads: str
    writes: str
    parts: str
    places: str
    alone: str = "(?!)"
    is_last: bool = False

    def claims(self, sentence: str) -> bool:
        """Return whether a sentence claims that something was done."""
        is_news = (_has(self.news, sentence) or bool(_CHECKED.match(sentence))) and not _has(_ABLE, sentence)
        for clause in _CLAUSE.finditer(sentence):
            behind = sentence[clause.end() :].lstrip(" ,;:–—(")
            if _has(self.conditional, sentence[: clause.end()]) or _begins(self.conditional, behind):
                continue
            if self._tells_itself(clause[0]) or self._tells_of(clause[0], is_news=is_news):
                return True
        return self._is_note(sentence, is_news=is_news)

    def _tells_itself(self, clause: str) -> bool:
        """Return whether a clause says that the bot did, or will do, what it cannot do."""
        tellers = [self.alone, self.promises, self.itself, *([self.ours] if _has(self.yours, clause) else [])]
        verbs = list[str]()
        for by, told in ((each, told) for each in tellers for told in _apart(each).finditer(clause)):
            if not self._is_denied(clause, told.end()):
                is_verb = by in (self.alone, self.promises)
                verbs += (told[0].split() if is_verb else self._verbs(clause[told.end() :]))[-1:]
        is_text = _has(self.parts, clause) and not _has(self.places, clause)
        return any(not _begins(self.reads, verb) and not (is_text and _begins(self.writes, verb)) for verb in verbs)

    def _tells_of(self, clause: str, *, is_news: bool) -> bool:
        """Return whether a clause says that something was done, by whomever."""
        is_arranged, whose = _holds(self.arranged, clause), [at.start() for at in _apart(self.yours).finditer(clause)]
        is_thing = any(_holds(self.things, clause[start:][:_NEAR]) for start in whose)
        whose += [at.start() for at in _apart(self.you).finditer(clause)]
        for tense in (self.perfect, self.present):
            for told in _apart(tense).finditer(clause):
                rest = clause[told.end() :]
                if _has(self.by, _AND.split(rest, maxsplit=1)[0]) or self._is_denied(clause, told.end()):
                    continue
                verbs, is_idiom = self._verbs(rest), _has(self.idioms, rest)
                is_told = is_arranged and (tense is self.perfect or is_news or is_idiom)
                if (verbs or is_idiom) and (is_thing or is_told):
                    return True
                is_whose = tense is self.perfect and any(start < told.start() for start in whose)
                if (is_news or is_whose) and any(not _begins(self.reads, verb) for verb in verbs):
                    return True
        return False

    def _is_note(self, sentence: str, *, is_news: bool) -> bool:
        """Return whether a sentence begins by noting what was done, such as "Ticket opened."."""
        note = next(iter(_CLAUSE.findall(sentence)), "")
        if any(_has(told, note) for told in (self.itself, self.perfect, self.present, _FINITE)):
            return False
        said = _WORD.findall(note)
        done = [word for word in said if word[1:].islower() and _is(self.done, word) and not _begins(self.reads, word)]
        if not done or not 1 < len(said) <= _SHORT:
            return False
        is_thing = _is(rf"(?:{self.things})\w{{0,2}}", said[0]) and (done[-1] == said[-1] or "!" in sentence)
        is_first = done[0] == said[0] and len(said[0]) > _FEW
        return is_news or is_thing or (is_first and _holds(self.things, note) and _has(self.yours, note))

    def _is_denied(self, clause: str, end: int) -> bool:
        """Return whether a clause says no in front of its verb, or anywhere where that is last."""
        return _has(self.denied, clause if self.is_last else clause[:end])

    def _verbs(self, rest: str) -> list[str]:
        """Return what may be the verb behind a subject."""
        words = _WORD.findall(rest)
        if self.is_last:
            return [word for word in words if not word[0].isupper() and _is(self.done, word)]
        verb = next((word for word in words if not _is(self.between, word)), "")
        return [verb] if _is(self.done, verb) else []


# Each line below is one list; breaking it would hide that.
# ruff: noqa: E501
_ENGLISH = _Language(
    common="the a an to of in is are was has have for you your i it and that this on by with been at",
    first=r"\w{2,}ed(?=!)|i|we|you|your|both|just|successfully|done|all set|as (?:you|requested)|thanks|no worries|good|following|sure thing|at your|per your",
    promises=r"i (?:ll|will|m going to|am going to)(?: (?:now|just|also|quickly|then|personally|happily|gladly))* (?!(?:be|do|try|need|have|keep|go|start|begin|give|take|tell|leave|say|stick|stay|split|write|only|not|never|assume|run|call|add|wrap|stop|make (?:it|this|that|the|a)|put (?:it|this|that)|let you know|get to|help|happily|gladly|now|just|also|then)(?!\w))\w+|i (?:m|am)(?: now| just| also| currently)? (?:mak(?:e|ing) sure|post|roll|deploy|delet|send|e-?mail|notif|inform|contact|forward|remind|escalat|fil|report|follow|get(?:ting)? back|let \w+ know|reach|messag|ping|schedul|book|register|enroll|open(?:ing)? a|submit|pass|arrang|tak(?:e|ing) care)\w*",
    itself=r"i(?: (?:ve|d|m|ll have|have|had|am|was able to|managed to))?(?! (?:ran|made|did|performed|conducted) (?:an?|another|the|this|your|one|two|several) (?:\w+ )?(?:search|quer)\w*)",
    ours=r"we(?: (?:ve|d|have|had))?",
    yours=r"your|for you",
    you=r"(?:you|both of you)(?= (?:re|are|ve|have|has) )",
    perfect=r"(?:has|have|ve) (?:(?:now|just|already|successfully|both|all|also) )*been|(?:is|are|re) (?:now|already|all|both|officially)|went",
    present=r"is|are|was|were|re|has|have",
    things=r"ticket|request|message|e-?mail|mail|reminder|invit|role|account|enrol|registration|booking|appointment|meeting|feedback|issue|case|refund|order|payment|password|subscription|preference|settings|permission|submission|deadline|due date|extension|seat|place|spot|complaint|access|poll|event|notification|application|profile|reservation|name(?!d)|address|question|report|suggestion|nickname|username|avatar|notes?|badge|invoice|vote|slot|shift|time ?zone|plan|avatar",
    arranged=r"meeting|cop(?:y|ies) of (?:this|that)|appointment|reminder|invit|ticket|refund|booking|reservation|poll|complaint|extension|deadline|spam|calendar|thread(?!s|-|ing|ed)|post(?!s|-|gres|ing|er)|announcement|nickname|username|duplicate",
    news=r"as (?:you )?(?:requested|asked|wished|discussed)|(?:at|per) your request|by me|on (?:my|your) (?:side|behalf)|thanks for (?:letting|pointing|reporting|flagging|the (?:hint|report|heads))|^\W*(?:done|all set)(?=\s?[!.,:–—-])|good news|no worries|sure thing|following your \w+|good catch|just now|a (?:moment|minute) ago",
    idioms=r"(?:on (?:its|their) way|live(?! \w+ing)|all set|taken care of|through|out|(?:on|in) (?:the|your) calendar|in main)",
    conditional=r"once|when|now that|if|after|until (?:you|it|they|we|all|that|everything)|unless|whenever|before|as soon as|how|as (?:\w+ ){1,4}shows?",
    by=r"by (?!me)\w+",
    denied=r"not|never|no|nothing|nobody|cannot|\w+n t|(?:should|may|might|must|can|could|would|will) (?:have|be|has|already)|according to",
    between=r"just|now|already|also|then|successfully|gone|went|ahead|and|both|personally|manually|quickly|in|turn|even",
    done=r"\w{2,}ed|(?:re)?sent|re(?:built|done|made|written)|put|set|reset|made|given|gave|got|took|taken|let|written|wrote|cut|shut|paid|brought|rung|told|done|built|signed|ran|drove|driven|threw|thrown|bought|sold|spoke|spoken|met|held|lent|hid|hidden|laid|swept|hung|fed|bound|won|spent",
    reads=r"answer|find|found|search|look|check|read|list|summar|show|explain|descri|quot|mention|compar|includ|us(?:e|ing)|bas(?:ed|ing)|notic|assum|interpret|underst|translat|simplif|shorten|number|left|omit|skip|limit|focus|cover|refer|cit|rel(?:y|ie)|drew|conclud|infer|gather|consult|review|walk|analy|consider|count|calculat|comput|deriv|deduc|kept|broke|split|group|sort|order|organi|format|structur|rephras|reword|highlight|outlin|sketch|draft|illustrat|demonstrat|provid|present|point|thought|believ|hop|expect|want|need|tr(?:y|ied)|meant|said|saw|seen|heard|knew|learn|mis|mix|confus|overlook|apologi|scan|stick|stuck|been|identif|express|stat(?:e|ing)|ask(?:ed)? (?:for|about)|discuss|pick|select|select|chosen|mark(?:ed)? the|locat|match|trac|stopp|preserv|retain",
    writes="add|creat|put|made|wr|rewr|updat|chang|correct|mark|cop|past|turn|convert|renam|remov|fix|adapt|adjust|extend|complet|fill|replac|drop|insert|built|prepar|compil|produc|generat|collect|combin|merg|gave|given|set|verif|confirm|test|clos",
    parts=r"examples?|summar(?:y|ies)|overview|tables?|lists? (?:of|with|below|here|that)|(?:bulleted|numbered|short) list|snippets?|code|explanations?|links?|footnotes?|sources?|sections?|steps?|details?|comments?|quotes?|passages?|comparison|outline|diagram|below|above|here|commands?|answer|response|reply|wording|formula|callback|matrix|in the (?:documents|documentation|docs)|bold|italics?|differences?|paragraphs?|original|terms?",
    places=r"(?:on|to|in|at|from) (?:page|the (?:\w+ )?(?:page|wiki|faq|channel|repo\w*|server|calendar|site|website|folder|drive|board|sheet|database|system|syllabus|glossary|handbook|docs|documentation|readme|thread))|#\w+",
    alone=r"^\W*(?:just|successfully) (?:\w+ed|sent|set|put)",
)
_GERMAN = _Language(
    common="der die das den dem ein eine einen ich ist sind und zu für mit auf du dich dir wurde nicht von im am zum zur hab habe",
    first=r"ich|wir|habe?n?|deine?\w?|eue?re?\w?|ihre?\w?|du|wurden?|erledigt|fertig|danke|keine sorge|wie gewünscht|dir|euch|ihnen|alles klar|gute?|vielen|auf",
    promises=r"(?:ich (?:schicke|sende|maile|leite|melde|kümmere|informiere|benachrichtige|erinnere|buche|trage|reiche|eröffne|lösche|poste|sorge dafür|verständige)|ich werde \w.{0,80} (?:schicken|senden|anschreiben|mailen|weiterleiten|melden|kümmern|informieren|benachrichtigen|erinnern|buchen|eintragen|einreichen|eröffnen|verständigen))",
    itself=r"(?:ich (?:habe?|hatte)|ich (?:\w+ ){1,5}und habe?|hab(?:e)? ich|^hab(?:e)?|wir haben (?:dir|euch|ihnen)|haben wir (?:dir|euch|ihnen))",
    ours=r"wir haben|haben wir",
    yours=r"(?:dein|euer|eure|ihr)(?:e|en|er|em|es|n|m|r|s)?|für (?:dich|sie|euch)",
    you=r"du|ihr|sie|dir|euch|ihnen",
    perfect=r"wurden?|wurdest|wurdet|(?:ist|sind|bist|seid|steht|stehen|liegt|liegen)(?: (?:jetzt|nun|bereits|inzwischen|damit|hiermit|beide|erfolgreich|ab sofort|soeben|für (?:dich|sie|euch|\w+tag|morgen|heute)))+",
    present=r"ist|sind|bist|seid|steht|stehen|liegt|liegen",
    things=r"\w*(?:frist|platz|plätze|termin|anfrage|nachricht|einladung|erinnerung|meldung|buchung|bestellung|zahlung|beschwerde|umfrage|reservierung|berechtigung|zugang|konto|nummer|einstellungen|ticket|e-?mail|rolle|passwort|abo|abgabe|antrag|erstattung|zugriff|profil|name|adresse|anschrift|frage|bericht|vorschlag|feedback|rückmeldung|anliegen|fall|spitzname|benutzername|notizen|abzeichen|rechnung|stimme|schicht|zeitzone|besprechung|tarif|mitgliedschaft)",
    arranged=r"termin|besprechung|meeting|erinnerung|einladung|ticket|erstattung|buchung|reservierung|umfrage|beschwerde|verlängerung|\w*frist|spam|\w*konto|nachricht|\w*platz|thread|beitrag|ankündigung|spitzname|kanal",
    news=r"soeben|vor einem moment|wie (?:gewünscht|besprochen|gebeten|verlangt)|auf (?:deinen|ihren|euren) wunsch|von mir|danke für (?:den|deinen|ihren|die) (?:hinweis|meldung|info)|^\W*(?:erledigt|fertig)(?=\s?[!.:,–—-])|keine sorge|alles klar|gute nachrichten?|ab sofort|gut gesehen|auf deine bitte|vielen dank für den hinweis",
    idioms=r"raus|unterwegs|live|online|im kanal|beim (?:support|team)|auf dem weg|im kalender|auf der liste",
    conditional=r"sobald|wenn|falls|nachdem|bis (?:du|sie|er|es|alle|wir|das)|bevor|wie man|wie (?:\w+ ){1,4}zeig(?:t|en)",
    by=r"durch|vom|von (?!mir|\d)\w+",
    denied=r"nicht|nichts|nie|niemals|niemand\w*|kein\w*|weder|könnte\w*|sollte\w*|müsste\w*|würde\w*|dürfte\w*|laut",
    between=r"",
    done=r"\w*ge\w{2,}(?:t|en)|(?:\w{2,6})?(?:be|ver|er|ent|zer|miss|über|unter|wieder|hinter)\w{2,}(?:t|en)|\w+iert|lassen",
    reads=r"beantwortet|gefunden|gesucht|gelesen|gesehen|nachge(?:seh|les|schlag|schau)|durch(?:such|gese|gele|gega)|geprüft|überprüft|vergl|zusammenge|aufgelistet|gelistet|aufgezählt|numm|erklärt|erläutert|beschrieb|gezeigt|zitiert|genannt|erwähnt|angenommen|weggelassen|ausge(?:lassen|wertet|wählt|schrieben)|gekürzt|verkürzt|verein|übersetzt|verstanden|verwechselt|vertan|bemerkt|berücksicht|verwend|benutz|dargestellt|formuliert|geglied|sortiert|geordnet|hervor|beschränkt|bezogen|gestützt|gemeint|gedacht|gehofft|versucht|entnommen|ermittelt|gezählt|berechnet|umform|interpretiert|übersehen|geirrt|herausge(?:funden|sucht|lesen)|unterteilt|aufgeteilt|strukturiert|orientiert|konzentriert|angegeben|angeführt|aufgeführt|verlassen|gehalten|entdeckt|erkannt|festgestellt|analysiert|skizziert|entworfen|verfasst|identifiziert|gehabt|verlinkt|betont|fett|eingegangen|behandelt|erfahren|gelernt|gehört|gesagt|gewusst|daneben|gegenüber|nebeneinander|beibehalten|belassen",
    writes="hinzu|gefasst|erstellt|angelegt|ergänzt|geschrieben|gemacht|geändert|aktualisiert|korrigiert|verbessert|kopiert|umgewandelt|entfernt|angepasst|erweitert|ersetzt|eingefügt|gebaut|zusammenge|erzeugt|gesammelt|kombiniert|gegeben|gesetzt|markiert|bestätigt|vervollständigt|abgelegt|umgeschrieben|überarbeitet|gestrichen|gelöscht|verschoben",
    parts=r"beispiele?|zusammenfassung|übersicht|tabelle|stellen?|abschnitte?n?|schritte?n?|befehle?|links?|erklärung|quellen?|vergleich|liste mit|liste der|liste von|unten|oben|folgend\w*|hier|antwort|formel|matrix|code|text|fett|kursiv|unterschiede?|abs(?:atz|ätze)|\w*wortlaut|begriffe?",
    places=r"(?:auf|in|im|aus|zum|zur|ins|an|vom)(?: der| die| den| dem)? (?:\w+ )?(?:\w*seite|wiki|faq|kanal|repo\w*|server|kalender|ordner|laufwerk|tabellenblatt|datenbank|system|glossar|handbuch|doku\w*|readme|thread|syllabus)|#\w+",
    is_last=True,
)
_SPANISH = _Language(
    common="el la los las de un una en y a he te tu tus ha se que para por del al lo ya está",
    first=r"he|hemos|acab\w+|[ts]us?|ya|[stl]es?|os|\w+[éí]|han?|listo|hecho|como|perfecto|tranquil[oa]|buenas?|siguiendo|a petición|lo|la|yo",
    promises=r"(?:(?:te|le|les|os) (?:envío|mando|aviso|recuerdo|reenvío)|(?:voy a|vamos a) (?:enviar|mandar|avisar|notificar|informar|escribir|reenviar|recordar|reservar|abrir|registrar|contactar)\w*|(?:te |le |les )?(?!(?:estar|ser|podr|intentar|tratar|tendr|seguir|necesitar|empezar)é)\w{2,}(?:ar|er|ir|dr)é)",
    itself=r"(?:(?:yo )?(?:(?:te|le|les|os|se|lo|la|los|las|me|ya) )*he|acabo de)",
    ours=r"hemos|acabamos de",
    yours=r"tus?|sus?|vuestr[oa]s?|para (?:ti|usted|vosotros)",
    you=r"te|le|les|os|ya|los dos|las dos|ambos|ambas",
    perfect=r"(?:ha|han|has|habéis) (?:ya )?(?:sido|quedado)|ya (?:ha|han|fue|fueron)|(?:te|le|les|os) acaban de|se(?: te| le| les)?(?= \w+(?:ó|aron|ieron)(?!\w))|se (?:te |le |les |os )?(?:ha|han)|quedó|quedaron|ya (?:está|están|estás|estáis|queda|quedan|tienes|salió|salieron)|(?:ya )?(?:salió|salieron)",
    present=r"está|están|fue|fueron|estás|queda|quedan",
    things=r"ticket|solicitud|mensaje|correo|recordatorio|invitaci|rol|cuenta|pregunta|inscripci|reserva|cita|reunión|pedido|pago|contraseña|suscripci|permiso|entrega|plazo|plaza|incidencia|reembolso|queja|encuesta|acceso|sala|perfil|nombre|dirección|número|prórroga|informe|sugerencia|preferencias|ajustes|apodo|nombre|notas|insignia|factura|voto|turno|zona horaria|plan",
    arranged=r"reunión|cita|recordatorio|invitaci|reserva|ticket|plazo|reembolso|queja|encuesta|incidencia|prórroga|sala|plaza|cuenta de spam|hilo|anuncio|apodo|publicación",
    news=r"hace un (?:momento|instante|minuto)|como (?:me |nos )?(?:pediste|solicitaste|pidió|querías)|de mi parte|a petición tuya|por mí|gracias por (?:avisar|el aviso|reportar|informar)|^\W*(?:listo|hecho)(?=\s?[!.:,–—-])|tranquil[oa]|perfecto|buenas noticias|siguiendo tus? \w+|buena observación",
    idioms=r"ya salió|salió para|ya salieron|en camino|en línea|en (?:el|tu) calendario|en la lista",
    conditional=r"cuando|si|una vez|después|hasta que|antes|apenas|como muestran?",
    by=r"por (?!mí|favor|correo|mail|e-mail|teléfono)\w+",
    denied=r"no|nunca|nada|nadie|ni|podría\w*|debería\w*|puede\w*|según",
    between=r"ya|también|recién|justo|así",
    done=r"\w{2,}(?:[éíó]|aron|ieron)|\w*crit[oa]s?|\w{2,}(?:ad|id)[oa]s?|\w*(?:puest|hech|escrit|abiert|dich|vuelt|resuelt|dad|id)[oa]s?|\w+(?:ar|er|ir)(?:te|le|les|lo|la|los|las)*|acceso",
    reads=r"respond|contest|encontr|busc|leíd|leid|vist|mir|revis|comprob|list|resum|explic|descri|mostr|cit|mencion|compar(?!t)|inclu|us|basad|not(?!ific)|supuest|asum|interpret|entend|traduc|simplific|acort|numer|omit|dejad|limit|centr|refer|conclu|consult|analiz|consider|cont(?!act|rat|rol)|calcul|deduc|mantenid|divid|agrup|orden|organiz|estructur|reformul|destac|esboz|redact|ilustr|proporcion|present|señal|pensad|creíd|esperad|querid|intent|dich|confund|equivoc|enumer|detect|identific|parec|tenid|sid[oa]|pod|sab|hall|verific|expuest|tratad|aclar|conserv",
    writes="añad|agreg|cread|crear|puest|escrit|escrib|actualiz|cambi|corrig|correg|marc|copi|convert|elimin|quit|adapt|ajust|ampli|complet|rellen|reemplaz|sustitu|insert|prepar|recopil|generad|generar|reun|combin|dad|dar|hech|renombr|confirm|incorpor",
    parts=r"ejemplos?|resumen|tablas?|una lista|lista (?:con|de los|de las)|secci(?:ón|ones)|pasos|comandos?|enlaces?|fuentes?|explicación|comparación|abajo|arriba|aquí|continuación|respuesta|fórmula|matriz|código|texto|nota al|negrita|cursiva|diferencias?|párrafos?|original|términos?",
    places=r"(?:en|a|al|del|de) (?:la |el |los |las )?(?:\w+ )?(?:página|wiki|faq|canal|repositorio|servidor|calendario|sitio|web|carpeta|tablero|hoja|base de datos|sistema|glosario|manual|documentación|readme|hilo|programa)|#\w+",
    alone=r"(?!aquí|así|allí|ahí|ahí|qué|porqué|también|además|después|café|comité|casi|mí|sí|sé|esté)[^\W\d_]{2,}(?:é|í)|hice|puse|pedí|di de",
)
_FRENCH = _Language(
    common="le la les l de un une des du et est a ai j vous votre vos que pour dans au aux à en ce été je",
    first=r"j|je|nous|votre|vos|ton|t[ae]s?|vous|c.est|comme|merci|parfait|bonne|conformément|bien|à votre",
    promises=r"je (?:vous |te |l |lui |leur )?(?:envoie|transmets|préviens|contacte|rappellerai|enverrai|transmettrai|préviendrai|contacterai|informerai|vais (?:vous |te |l |lui |leur )?(?:envoyer|transmettre|prévenir|contacter|informer|écrire|réserver|ouvrir))|j (?:écrirai|enverrai|avertis|informe|informerai|ouvre)",
    itself=r"(?:j (?:y )?ai|je viens (?:de|d)|je (?:l |t |vous |les |lui |leur |te )(?:en )?ai)",
    ours=r"nous (?:l |vous |t )?avons|nous venons (?:de|d)",
    yours=r"votre|vos|ton|ta|tes|pour (?:vous|toi)",
    you=r"vous|tu|t|te",
    perfect=r"(?:a|ont|avez|as) (?:(?:bien|déjà|désormais|maintenant|aussi) )*été|(?:est|sont|êtes|es) (?:bien|déjà|désormais|maintenant|dorénavant)",
    present=r"est|sont|êtes|es",
    things=r"ticket|demande|message|courriel|e-?mail|mail|rappel|invitation|rôle|compte|inscription|réservation|rendez-vous|réunion|signalement|commande|paiement|mot de passe|abonnement|autorisation|dépôt|délai|échéance|place|incident|remboursement|plainte|réclamation|sondage|accès|salle|profil|notification|dossier|nom|adresse|numéro|question|rapport|suggestion|préférences|paramètres|pseudo|notes|badge|facture|vote|créneau|fuseau|forfait",
    arranged=r"rendez-vous|réunion|rappel|invitation|réservation|ticket|remboursement|plainte|réclamation|sondage|salle|place|échéance|compte de spam|fil|annonce|pseudo|doublon",
    news=r"à l instant|comme (?:demandé|convenu|souhaité)|à (?:votre|ta) demande|par mes soins|merci (?:de|pour) (?:l |le |votre |ton )?(?:avoir|signal\w*|avertir|prévenir|info\w*)|c est (?:fait|réglé|noté|envoyé)|parfait|bonne nouvelle|conformément à|bien vu",
    idioms=r"à jour|parti\w*|en route|en ligne|en chemin|à l agenda|sur la liste",
    conditional=r"quand|lorsqu\w*|si|une fois|dès (?:que|qu)|après|jusqu\w* à ce|avant|comment|comme (?:le |la |les )?montrent?",
    by=r"par (?!mes|moi)\w+",
    denied=r"ne|n|pas|jamais|rien|personne|aucun\w*|pourrai\w*|devrai\w*|peut|peuvent|selon",
    between=r"bien|déjà|aussi|également|donc|ensuite|tout|juste|y|en|le|la|les|lui|leur|vous|te|t|l",
    done=r"\w{2,}(?:é|i|u)e?s?|\w{2,}(?:is|it|ert|int|ait)e?s?|\w+(?:er|ir|re)|mis|mise|pris|fait",
    reads=r"répond|dress|trouv|cherch|recherch|lu(?!\w)|parcour|regard|vérif|list|résum|expliqu|décri|montr|cit|mention|compar|inclu|utilis|bas|fond|remarqu|suppos|interprét|compris|tradui|simplifi|raccourc|numérot|omis|laiss|limit|concentr|référ|conclu|consult|analys|considér|compt|calcul|dédui|gard|divis|group|tri|ordonn|organis|structur|reformul|soulign|esquiss|rédig|illustr|fourni|présent|indiqu|pens|cru|espér|voul|essay|dit|confond|tromp|énumér|détect|identifi|repér|relev|relu|examin|tent|(?:eu|pu|vu|su)(?!\w)|été|entend|détaill|précis|retenu|recens|constat|mal|conserv",
    writes="ajout|cré|mis|écri|actualis|chang|corrig|marqu|copi|transform|convert|supprim|retir|adapt|ajust|étend|complét|rempl|insér|prépar|rassembl|génér|combin|donn|fait|renomm|réécri|regroup|intégr|modifi",
    parts=r"exemples?|résumé|tableau|liste (?:des|de ce|qui|avec)|sections?|étapes?|commandes?|liens?|sources?|explications?|comparaison|dessous|dessus|ici|suit|réponse|formule|matrice|code|texte|passages?|gras|italique|différences?|paragraphes?|original|termes?",
    places=r"(?:sur|à|dans|du|au|de) (?:la |le |l |les )?(?:\w+ )?(?:page|wiki|faq|canal|salon|dépôt|serveur|calendrier|agenda|site|dossier|tableau de bord|feuille|base|système|glossaire|manuel|documentation|readme|fil)|#\w+",
)
_LANGUAGES = (_ENGLISH, _GERMAN, _SPANISH, _FRENCH)


def deeds(text: str, *, is_whole: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the places of such claims in a text, each to the end of its sentence."""
    for start, end in _sentences(text):
        is_open = not is_whole and end == len(text)
        begun = _begun(_settled(text, start) if is_open else text[start : min(end, start + _LONGEST)])
        if begun is not None:
            yield start + begun, end


def undecided(text: str) -> int:
    """Return where words begin at the end of a text that could become such a claim with more of it, or its length."""
    for start, end in _sentences(text, max(len(text) - _OPEN, 0)):
        if end == len(text) and (found := _beginning_of(text, start)):
            return found.start() if _settled(text, start) == text[start:] else len(text)
    return len(text)


def _sentences(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the places of sentences; one of a few words, such as "Done!", belongs to the one behind it."""
    for end in _END.finditer(text, start):
        if end[0] == "\n" or len(text[start : end.end()].split()) > _FEW:
            yield start, end.end()
            start = end.end()
    if start < len(text):
        yield start, len(text)


def _settled(text: str, start: int) -> str:
    """Return what is judged of a sentence that goes on: its first words, which stay as they are."""
    begins = _beginning_of(text[: start + _LONGEST], start)
    enough = _ENOUGH.match(text, begins.start()) if begins else None
    return text[start : enough.end()] if enough else text[start:]


@lru_cache(maxsize=512)
def _begun(sentence: str) -> int | None:
    """Return where a claim begins in a sentence, if it is one; a text that grows is read again and again."""
    found = _beginning_of(sentence)
    if found is None or sentence.rstrip().endswith("?"):
        return None
    said = _QUOTED.sub("", sentence).replace("'", " ").replace("’", " ")
    is_opened = _begins(_OPENED, sentence) and not _has(_ABLE, sentence)
    return found.start() if is_opened or any(language.claims(said) for language in _spoken(sentence)) else None


def _spoken(sentence: str) -> list[_Language]:
    """Return the languages that a sentence may be in: those with most of its common words."""
    words = [word.lower() for word in _WORD.findall(sentence)]
    known = {language: sum(map(language.common.split().count, words)) for language in _LANGUAGES}
    return [language for language in _LANGUAGES if known[language] == max(known.values())]


def _beginning_of(text: str, start: int = 0) -> re.Match[str] | None:
    """Return the first word with which a claim may begin, in all languages; letter by letter, as it is in the text."""
    return _may_begin().search(text.lower() if text.isascii() else text.translate(_LIKE_SMALL).lower(), start)


@cache
def _may_begin() -> re.Pattern[str]:
    """Return what finds such a word in small letters, which takes a quarter of the time that it does in all."""
    begins = (rf"(?:{each.first})(?!\w)|{each.arranged}|^\W*(?:{each.things})" for each in _LANGUAGES)
    return re.compile(rf"(?<!\w)(?:{'|'.join(begins)}|[✅☑✔])")


@cache
def _apart(pattern: str) -> re.Pattern[str]:
    """Compile words that stand apart when they are first needed, as it takes its time."""
    return re.compile(rf"(?<!\w)(?:{pattern.replace(' ', chr(92) + 's{1,3}')})(?!\w)", re.IGNORECASE)


@cache
def _beginning(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})", re.IGNORECASE)


def _has(pattern: str, text: str) -> bool:
    return bool(_apart(pattern).search(text))


def _is(pattern: str, word: str) -> bool:
    return bool(_apart(pattern).fullmatch(word))


def _holds(pattern: str, text: str) -> bool:
    """Return whether a word in a text begins so."""
    return bool(_beginning(pattern).search(text))


def _begins(pattern: str, text: str) -> bool:
    return bool(_beginning(pattern).match(text))
