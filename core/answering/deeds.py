"""Finds sentences by which a model claims to have done something, such as to have sent a message, in three languages.

It can do nothing unless a tool says so; what it wrote down below, or found, is no such claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# Each line below is one part of a pattern; breaking it would hide that.
# ruff: noqa: E501
_EN = r"(?:added|created|sent|deleted|removed|scheduled|booked|notified|informed|alerted|opened|filed|submitted|updated|changed|saved|pinned|unpinned|forwarded|posted|registered|enrolled|assigned|closed|reset|granted|given|gave|revoked|invited|banned|muted|unmuted|kicked|moved|renamed|uploaded|e-?mailed|messaged|contacted|pinged|ordered|paid|refunded|cancell?ed|reserved|installed|enabled|disabled|activated|deactivated|restarted|deployed|executed|merged|committed|pushed|escalated|flagged|reported|logged|recorded|archived|marked|tagged|subscribed|unsubscribed|approved|published|shared|signed you up|set up|set (?:a|the|your|up)|put (?:you|in|a|your)|made (?:you|your|a (?:note|request|booking|reservation|ticket))|passed (?:it|this|that|your)|reached out|let \w{1,30}(?: \w{1,30}){0,3} know|upgraded|restored|turned (?:on|off|your)|extended|postponed|confirmed|verified|corrected|fixed|answered (?:them|him|her)|replied|asked the)"
_EN_TEXT = r"(?:examples?|summar(?:y|ies)|overview|tables?|(?:bulleted |short |numbered )?lists? (?:of|below|with)|snippets?|code|explanations?|links?|footnotes?|sources?|sections?|steps?|details?|comments?|quotes?|passages?|comparison|outline|diagram|note (?:below|above|on|about)|the command|commands|everything (?:you|below)|below|above|here)"
_DE = r"(?:hinzugefügt|erstellt|angelegt|gesendet|geschickt|verschickt|abgeschickt|gelöscht|entfernt|geplant|gebucht|reserviert|benachrichtigt|informiert|verständigt|eröffnet|aktualisiert|geändert|gespeichert|angeheftet|angepinnt|weitergeleitet|weitergegeben|eingetragen|angemeldet|abgemeldet|registriert|zugewiesen|zugeteilt|vergeben|eingerichtet|eingestellt|zurückgesetzt|gemeldet|verschoben|umbenannt|hochgeladen|storniert|abgesagt|abonniert|freigeschaltet|freigegeben|aktiviert|deaktiviert|gesperrt|stummgeschaltet|eingeladen|veröffentlicht|geteilt|notiert|vermerkt|übermittelt|bestellt|bezahlt|kontaktiert|markiert|archiviert|geschlossen|ausgeführt|installiert|neu gestartet|hinterlegt|eingereicht|gesetzt|vorgemerkt|beauftragt|gepostet|verbunden|verlängert|bestätigt|korrigiert|behoben|beantragt)"
_DE_TEXT = r"(?:Beispiele?|Zusammenfassung|Übersicht|Tabelle|Stellen?|Abschnitte?|Schritte|Befehle?|Links?|Erklärung|Quellen?|Vergleich|Liste (?:mit|der|von|aller)|unten|folgend\w*)"
_ES = r"(?:añadido|agregado|creado|enviado|mandado|eliminado|borrado|programado|agendado|reservado|notificado|avisado|informado|abierto|actualizado|cambiado|modificado|guardado|fijado|anclado|reenviado|registrado|inscrito|apuntado|asignado|configurado|restablecido|reportado|denunciado|movido|renombrado|subido|cancelado|suscrito|activado|desactivado|bloqueado|silenciado|invitado|expulsado|publicado|compartido|anotado|pedido|pagado|contactado|marcado|archivado|cerrado|ejecutado|instalado|reiniciado|presentado|puesto|escalado|pasado|dado|ampliado|prorrogado|confirmado|corregido|solucionado|solicitado|avanzado)"
_ES_PAST = r"(?:Añadí|Agregué|Creé|Envié|Mandé|Eliminé|Borré|Programé|Agendé|Reservé|Notifiqué|Avisé|Informé|Abrí|Actualicé|Cambié|Modifiqué|Guardé|Fijé|Reenvié|Registré|Inscribí|Asigné|Configuré|Restablecí|Reporté|Moví|Cancelé|Activé|Desactivé|Bloqueé|Silencié|Invité|Publiqué|Compartí|Contacté|Marqué|Archivé|Cerré)"
_ES_TEXT = r"(?:ejemplos?|resumen|tabla|una lista|secci(?:ón|ones)|pasos|comandos?|enlaces?|fuentes?|explicación|comparación|abajo|arriba|aquí|a continuación)"
_THING = r"(?:ticket|request|message|e-?mail|mail|reminder|invitation|invite|role|account|enrol?lment|registration|booking|appointment|meeting|feedback|issue|case|refund|order|payment|password|subscription|settings?|preferences|permissions?|submission|deadline|extension|seat|place|report|moderators?|question (?:has been|was) forwarded)"
_THING_DE = r"(?:\w+(?:frist|platz|termin)|Ticket|Anfrage|Nachricht|E-?Mail|Erinnerung|Einladung|Rolle|Konto|Anmeldung|Registrierung|Buchung|Termin|Meldung|Bestellung|Zahlung|Passwort|Abo\w*|Einstellung(?:en)?|Berechtigung(?:en)?|Abgabe|Frist|Platz|Kanal|Antrag|Beitrag)"
_THING_ES = r"(?:ticket|solicitud|mensaje|correo|recordatorio|invitación|rol|cuenta|pregunta|inscripción|registro|reserva|cita|reunión|informe|pedido|pago|contraseña|suscripción|configuración|ajustes|permisos?|entrega|plazo|plaza|incidencia|reembolso)"
_BETWEEN = r"(?:\s{1,3}(?:just|now|already|also|successfully|gone ahead and|went ahead and|both|then)){0,3}\s{1,3}"
_DEED = (
    rf"\b(?:I|We)(?:['’]ve|\s{{1,3}}have|['’]m|\s{{1,3}}am|['’]ll have)?{_BETWEEN}{_EN}\b(?!\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,3}}?{_EN_TEXT}\b)"
    rf"|\b(?:Your|The)\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING}s?\s{{1,3}}(?:has|have|is|are|was|were)(?:\s{{1,3}}(?:now|just|already|successfully))?(?:\s{{1,3}}been)?{_BETWEEN}{_EN}\s{{1,3}}(?:for you|and you)\b"
    rf"|\bYour\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING}s?\s{{1,3}}(?:has|have|is|are|was|were)(?:\s{{1,3}}(?:now|just|already|successfully|been)){{0,3}}\s{{1,3}}{_EN}\b"
    rf"|\bYou(?:['’]ve|['’]re|\s{{1,3}}have|\s{{1,3}}are)(?:\s{{1,3}}(?:now|just|already|successfully|been)){{1,3}}\s{{1,3}}(?:added|enrolled|registered|subscribed|unsubscribed|signed up|assigned|booked|invited|removed)\b"
    rf"|\b(?:[Ii]ch\s{{1,3}}habe?|[Ww]ir\s{{1,3}}haben)\b(?![^.!?]{{0,60}}\b{_DE_TEXT}\b)[^.!?]{{0,120}}?\b{_DE}\b"
    rf"|\b(?:Deine?|Ihre?)\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING_DE}\s{{1,3}}(?:wurden?|ist|sind)\b[^.!?]{{0,60}}?\b{_DE}\b"
    rf"|\bhaben?\s{{1,3}}(?:ich|wir)\b(?![^.!?]{{0,60}}\b{_DE_TEXT}\b)[^.!?]{{0,80}}?\b{_DE}\b"
    rf"|\b(?:Du|Sie)\s{{1,3}}(?:wurdest|wurden|bist|sind)\s{{1,3}}(?:jetzt|nun|bereits|erfolgreich|ab sofort)[^.!?]{{0,60}}?\b{_DE}\b"
    rf"|\b(?:[TtSs]e\s{{1,3}}(?:lo\s{{1,3}}|la\s{{1,3}})?|[Ll][oa]s?\s{{1,3}}|[Yy]a\s{{1,3}}){{0,3}}(?<!no\s)(?<!No\s)(?:[Hh]e|[Hh]emos)\s{{1,3}}(?:ya\s{{1,3}})?{_ES}\b(?!\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,3}}?{_ES_TEXT}\b)"
    rf"|\b(?:[TtSs]e\s{{1,3}}(?:lo\s{{1,3}}|la\s{{1,3}})?|[Ll][oa]s?\s{{1,3}}|Ya\s{{1,3}})?(?i:{_ES_PAST})\b(?!\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,3}}?{_ES_TEXT}\b)"
    rf"|\b(?:Tus?|Sus?)\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING_ES}\s{{1,3}}(?:ha|han)\s{{1,3}}sido\s{{1,3}}\w+"
    rf"|\b(?:Tus?|Sus?)\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING_ES}\s{{1,3}}(?:ya\s{{1,3}})?(?:está|están|fue|fueron|quedó)\s{{1,3}}\w+[oa]s?\b"
    rf"|\b(?:Tus?|Sus?)\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,2}}?{_THING_ES}\s{{1,3}}se\s{{1,3}}han?\s{{1,3}}{_ES}\b"
    rf"|\b[Aa]cabo\s{{1,3}}de\s{{1,3}}(?:\w+ar|\w+er|\w+ir)(?:lo|la|te|le|los|las)?\b(?!\s{{1,3}}(?:\w{{1,30}}\s{{1,3}}){{0,3}}?{_ES_TEXT}\b)"
    r"|\b(?:Done|All (?:set|done)|Erledigt|Fertig|Listo|Hecho)\s*[,.!:;–—-]+\s{1,3}\w[^.!?\n]{0,80}?\b(?:has been|have been|is now|are now|was|were|ist|sind|wurden?|ha sido|han sido|está|están|quedó|ha quedado)\b"
    r"|\bThe (?:meeting|appointment|reminder|invitation|ticket|refund|deadline|booking|reservation) (?:has|have) (?:now |just )?been \w+ed\b"
    rf"|\b(?:Der|Die|Das)\s{{1,3}}(?:Termin|Buchung|Reservierung|Anmeldung|Einladung|Erinnerung|Ticket|Frist)\s{{1,3}}(?:wurde|ist)\b[^.!?]{{0,60}}?\b{_DE}\b"
    r"|\b(?:El|La)\s{1,3}(?:reunión|cita|recordatorio|invitación|reserva|ticket|plazo)\s{1,3}(?:ha\s{1,3}sido|ha\s{1,3}quedado|está\s{1,3}ya|quedó)\s{1,3}\w+[oa]\b"
    rf"|\b[Ss]e\s{{1,3}}ha(?:n)?\s{{1,3}}{_ES}\s{{1,3}}(?:tus?|sus?)\b"
)
_BEGINNINGS = r"I|Your|You|The|[Ii]ch|Deine?|Ihre?|Du|Sie|[TtSs]e|[Ll][oa]s?|[Yy]a|[Hh]e|[Hh]emos|We|[Ww]ir|haben|Tus?|Sus?|Done|All|Erledigt|Fertig|Listo|Hecho|Der|Die|Das|El|La|[Aa]cabo|habe"
_MAY_BEGIN = re.compile(rf"\b(?:{_BEGINNINGS})\b")
_ENDS_OF_PAST = re.compile("[éíÉÍ]")  # of verbs in the Spanish past, with which such a claim may begin as well
_END = re.compile(r"[.!?…](?=\s|\Z)|\n")
_OPEN = 140  # characters in which it shows whether a sentence is one
_WORDS_OPEN = 9


def deeds(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of such claims in a text, each to the end of its sentence.

    The pattern is slow, and tried only where one of the words stands with which such a claim begins.
    """
    at, has_past = 0, bool(_ENDS_OF_PAST.search(text))
    beginnings = _compiled(rf"\b(?:{_BEGINNINGS}|(?i:{_ES_PAST}))\b") if has_past else _MAY_BEGIN
    for begun in beginnings.finditer(text):
        if begun.start() >= at and (found := _compiled(_DEED).match(text, begun.start())):
            end = _END.search(text, found.end())
            at = end.end() if end else len(text)
            yield found.start(), at


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when it is first needed, which takes a tenth of a second that no start has to wait for."""
    return re.compile(pattern)


def undecided(text: str) -> int:
    """Return where words begin at the end of a text that could become such a claim with more of it, or its length."""
    start = max(len(text) - _OPEN, 0)
    for end in _END.finditer(text, start):
        start = end.end()
    found = _MAY_BEGIN.search(text, start)
    if found is None or len(text[found.start() :].split()) > _WORDS_OPEN:
        return len(text)
    return found.start()
