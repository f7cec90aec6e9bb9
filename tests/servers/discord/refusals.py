"""What Discord says when it does not do what it was asked: statuses and codes as the real ones."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """A request is refused with a status, a code and words."""

    def __init__(self, status: int, code: int, message: str, errors: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    @property
    def body(self) -> dict[str, Any]:
        """What is sent."""
        whole: dict[str, Any] = {"message": self.message, "code": self.code}
        return whole if self.errors is None else {**whole, "errors": self.errors}


def unauthorized() -> Refusal:
    """The token is not the bot's."""
    return Refusal(401, 0, "401: Unauthorized")


def not_found() -> Refusal:
    """There is no such address."""
    return Refusal(404, 0, "404: Not Found")


def unknown_channel() -> Refusal:
    """There is no such channel."""
    return Refusal(404, 10003, "Unknown Channel")


def unknown_guild() -> Refusal:
    """There is no such guild."""
    return Refusal(404, 10004, "Unknown Guild")


def unknown_message() -> Refusal:
    """There is no such message, or it was deleted."""
    return Refusal(404, 10008, "Unknown Message")


def unknown_user() -> Refusal:
    """There is no such user."""
    return Refusal(404, 10013, "Unknown User")


def unknown_webhook() -> Refusal:
    """The interaction was not answered, so nothing can follow it up."""
    return Refusal(404, 10015, "Unknown Webhook")


def too_many_follow_ups() -> Refusal:
    """Where the bot is not, no more than five messages follow a response."""
    return Refusal(400, 40094, "This interaction has hit the maximum number of follow up messages")


def unknown_interaction() -> Refusal:
    """There is no such interaction, or three seconds have passed."""
    return Refusal(404, 10062, "Unknown interaction")


def too_many_reactions() -> Refusal:
    """The message has twenty different reactions."""
    return Refusal(400, 30010, "Maximum number of reactions reached (20)")


def too_many_late_edits() -> Refusal:
    """The message is older than an hour and was edited often enough."""
    return Refusal(429, 30046, "Maximum number of edits to messages older than 1 hour reached")


def already_acknowledged() -> Refusal:
    """The interaction was answered before."""
    return Refusal(400, 40060, "Interaction has already been acknowledged.")


def tag_required() -> Refusal:
    """A post of this forum needs a tag."""
    return Refusal(400, 40067, "A tag is required to create a forum post in this channel")


def missing_access() -> Refusal:
    """The bot does not see the channel."""
    return Refusal(403, 50001, "Missing Access")


def not_the_author() -> Refusal:
    """Only the author may edit a message."""
    return Refusal(403, 50005, "Cannot edit a message authored by another user")


def empty_message() -> Refusal:
    """There is nothing in the message."""
    return Refusal(400, 50006, "Cannot send an empty message")


def refuses_dms() -> Refusal:
    """The person takes no direct messages."""
    return Refusal(403, 50007, "Cannot send messages to this user")


def not_a_text_channel() -> Refusal:
    """A forum holds threads, not messages."""
    return Refusal(400, 50008, "Cannot send messages in a non-text channel")


def unknown_emoji() -> Refusal:
    """That is no emoji."""
    return Refusal(400, 10014, "Unknown Emoji")


def missing_permissions() -> Refusal:
    """The bot sees the channel, but may not do this in it."""
    return Refusal(403, 50013, "Missing Permissions")


def wrong_channel_type() -> Refusal:
    """This cannot be done in a channel of that kind."""
    return Refusal(400, 50024, "Cannot execute action on this channel type")


def dead_token() -> Refusal:
    """The interaction's fifteen minutes are over."""
    return Refusal(401, 50027, "Invalid Webhook Token")


def too_old_to_delete() -> Refusal:
    """Messages older than two weeks are not deleted in bulk."""
    return Refusal(400, 50034, "A message provided was too old to bulk delete")


def archived() -> Refusal:
    """The thread is archived."""
    return Refusal(400, 50083, "Thread is archived")


def thread_exists() -> Refusal:
    """A message has one thread."""
    return Refusal(400, 160004, "A thread has already been created for this message")


def thread_locked() -> Refusal:
    """The thread is locked."""
    return Refusal(400, 160005, "Thread is locked")


def cannot_reply() -> Refusal:
    """Replying needs the permission to read the history."""
    return Refusal(400, 160002, "Cannot reply without permission to read message history")


def invalid_form(path: str, code: str, message: str) -> Refusal:
    """Give the refusal of a body, of which the part at *path*, with dots in it, is wrong."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(path.split(".")):
        errors = {part: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors)


def too_long(path: str, most: int) -> Refusal:
    """A text is longer than its limit."""
    return invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def bad_length(path: str, least: int, most: int) -> Refusal:
    """A text or a list is shorter or longer than its limits."""
    return invalid_form(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
