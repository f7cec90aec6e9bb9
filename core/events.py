"""What is worth counting or logging. The core reports; observers listen; the core knows none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Literal, TypeAlias, TypeVar

from core.model import Answer, Cost, MessageRef, Status, Usage, WorkspaceRef

ErrorType: TypeAlias = Literal["validation", "retrieval", "generation", "no_context"]

Service: TypeAlias = Literal["chat model", "review model", "embedder", "reranker", "index", "inbox", "tool"]
"""What a service does here, whoever provides it."""


class State(StrEnum):
    """The states that a question passes."""

    RECEIVED = "received"
    VALIDATING = "validating"
    RETRIEVING = "retrieving"
    GENERATING = "generating"
    COMPLETE = "complete"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A question went on to another state; `error_type` is there with `State.ERROR` only."""

    question: MessageRef
    state: State
    error_type: ErrorType | None = None


class Step(StrEnum):
    """What is done with a question on its way, in this order; a process may die between any two steps."""

    ACCEPTED = "accepted"  # a question that was asked by a command is written down, and the platform does not know yet
    ACKNOWLEDGED = "acknowledged"  # the platform says that an answer is on its way
    HEARD = "heard"  # a message is a question, and nothing of it is written down
    PUT = "put"  # it is written down, and the platform does not know yet
    MOVED = "moved"  # what was accepted is in its thread
    TAKEN = "taken"
    POSTING = "posting"  # it is noted that a message is about to be posted
    POSTED = "posted"  # the platform has it, and its id is not noted
    NOTED = "noted"
    EDITING = "editing"
    EDITED = "edited"
    SHOWN = "shown"  # the platform has confirmed the whole answer
    RECORDED = "recorded"  # the messages of the answer are known
    REMEMBERED = "remembered"  # the conversation holds the turn
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Passed:
    """A question has come to a step."""

    question: MessageRef
    step: Step


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool ran, of which nothing here is in the model's words; `result_size` is in characters.

    The name is "unknown" where it is that of no tool. `arguments` says how large what was given is, by the names that
    the tool itself has for it; what has another one stands under "unknown".
    """

    question: MessageRef
    name: str
    arguments: Mapping[str, str]
    success: bool
    result_size: int
    time_ms: float


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """One turn of the model, as its service counted it."""

    question: MessageRef
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer is complete; `usage` counts all turns of the model, `cost` is None where no prices are known."""

    question: MessageRef
    status: Status
    model: str
    usage: Usage
    cost: float | None
    retrieval_time_ms: float
    generation_time_ms: float
    total_time_ms: float
    first_token_time_ms: float = 0.0
    posting_time_ms: float = 0.0

    @property
    def stages(self) -> Mapping[str, float]:
        """How many milliseconds each stage took, of those that follow one another; all else is the rest."""
        return {
            "search": self.retrieval_time_ms,
            "first_token": self.first_token_time_ms,
            "writing": self.generation_time_ms - self.first_token_time_ms,
            "posting": self.posting_time_ms,
        }

    @classmethod
    def of(cls, question: MessageRef, answer: Answer) -> Answered:
        """Take from *answer* what can be counted."""
        names = (field.name for field in fields(cls) if field.name != "question")
        return cls(question, **{name: getattr(answer, name) for name in names})


@dataclass(frozen=True, slots=True)
class Charged:
    """What a run of a question has cost is counted, in the community where it was asked unless another is *charged*."""

    question: MessageRef
    cost: Cost
    charged: WorkspaceRef | None = None


@dataclass(frozen=True, slots=True)
class BudgetAlerted:
    """A community has used so many percent of a *budget*, in the words of the settings; its moderators are told."""

    community: str
    budget: str
    percent: int


@dataclass(frozen=True, slots=True)
class InventionsRemoved:
    """The model wrote addresses, or numbers of footnotes, that no search had returned; they were taken out."""

    question: MessageRef
    urls: int
    marks: int = 0


@dataclass(frozen=True, slots=True)
class MemoryFailed:
    """A conversation could not be loaded or written; the question was answered without."""

    question: MessageRef
    doing: Literal["load", "append"]


@dataclass(frozen=True, slots=True)
class Retried:
    """A call to a service is made again."""

    service: Service
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceFailed:
    """A service did not do its work; `reason` is the sentence of our error, which quotes nobody and says what to do."""

    service: Service
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceSaid:
    """What a service said as it refused or failed, for the operator; nothing that stood in the request is in it."""

    service: Service
    detail: str


@dataclass(frozen=True, slots=True)
class FellBack:
    """A second service does the work of one that is not there, for the reason in our own words."""

    service: Service
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceSkipped:
    """A service failed again and again, so that it is left alone until one call has gone through; said once."""

    service: Service
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceBack:
    """A service that was skipped works again."""

    service: Service


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A worker could not do what it had taken; it is tried again unless this was the last attempt."""

    question: MessageRef
    attempt: int
    is_last: bool
    reason: str


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A worker goes on with a question whose worker gave no sign of life for the time of its lease."""

    question: MessageRef
    attempt: int


@dataclass(frozen=True, slots=True)
class LostByStore:
    """The store has lost a question that this process knows; it *is put back*, unless the store has it again."""

    question: MessageRef
    is_put_back: bool


@dataclass(frozen=True, slots=True)
class AnswerAssumed:
    """A question that the store does not know counts as answered, since nobody can see whether it was."""

    question: MessageRef


@dataclass(frozen=True, slots=True)
class Connected:
    """A platform hears us, and we hear it, for the first time or again."""

    platform: str
    name: str


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """A platform cannot be reached, or lets the bot do nothing; it is tried again, until it is `Connected`."""

    platform: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommunityLost:
    """A platform refuses the token of one community, called *name* for people; it is tried again, others are served."""

    platform: str
    community: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommunityBack:
    """The token of a community that was `CommunityLost` is taken again, unless the bot *has left* that for good."""

    platform: str
    community: str
    name: str
    has_left: bool = False


@dataclass(frozen=True, slots=True)
class CommunitiesFound:
    """The bot is in several communities of a platform, or in one that is not allowed; each with its name there."""

    platform: str
    allowed: Mapping[str, str]
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shortcoming:
    """The bot runs and lacks something, on a platform or none; the *advice* tells the operator what to do."""

    platform: str | None
    advice: str


@dataclass(frozen=True, slots=True)
class CommunitiesSee:
    """Which sources each allowed community of a platform sees; None where the index cannot tell now."""

    platform: str
    sources: Mapping[str, tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class CommandsFailed:
    """A platform did not take the commands that have changed; those of before still work."""

    platform: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommandsRegistered:
    """A platform has the commands as they are, after it did not take them."""

    platform: str


@dataclass(frozen=True, slots=True)
class CatchUpCutShort:
    """Not all of what was said on a platform while nobody heard it could be read."""

    platform: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlatformWaited:
    """A platform asked to be left alone for some seconds."""

    platform: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PlaceRefused:
    """A platform lets the bot say nothing where a question was asked; whoever looks after the place can change that."""

    question: MessageRef


@dataclass(frozen=True, slots=True)
class PlatformFailed:
    """A platform does not take the bot until the operator changes something, as the reason says; others go on."""

    platform: str
    reason: str


@dataclass(frozen=True, slots=True)
class PossiblyDoubled:
    """A message was posted again, since nobody could say whether the first time it had arrived."""

    question: MessageRef


@dataclass(frozen=True, slots=True)
class SourceFailed:
    """A source that is read by itself could not be; what was read of it before stays."""

    source: str
    reason: str


_OfQuestions: TypeAlias = (
    StateChanged | Passed | ToolCalled | TokensUsed | Answered | Charged | InventionsRemoved | MemoryFailed
)
_OfTasks: TypeAlias = TaskFailed | TakenOver | LostByStore | AnswerAssumed | PossiblyDoubled | PlaceRefused
_OfServices: TypeAlias = Retried | ServiceFailed | ServiceSaid | FellBack | ServiceSkipped | ServiceBack | SourceFailed
_OfPlatforms: TypeAlias = Connected | ConnectionLost | PlatformFailed | PlatformWaited | CatchUpCutShort | Shortcoming
_OfCommunities: TypeAlias = CommunityLost | CommunityBack | CommunitiesFound | CommunitiesSee | BudgetAlerted
_OfCommands: TypeAlias = CommandsFailed | CommandsRegistered
Event: TypeAlias = _OfQuestions | _OfTasks | _OfServices | _OfPlatforms | _OfCommunities | _OfCommands
Observer: TypeAlias = Callable[[Event], None]
EventT = TypeVar("EventT")


def unobserved(*_: object) -> None:
    """Listen to nothing; the default of whatever may be told something."""


def everyone(*observers: Observer) -> Observer:
    """Make one observer of several."""
    listening = [observer for observer in observers if observer is not unobserved]

    def tell(event: Event) -> None:
        for observer in listening:
            observer(event)

    return tell


def only(observer: Callable[[EventT], object], *kinds: type[EventT]) -> Observer:
    """Make an observer that hears of these kinds of events alone."""

    def tell(event: Event) -> None:
        if isinstance(event, kinds):
            observer(event)

    return tell
