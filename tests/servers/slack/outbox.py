"""What is sent to the app, over sockets or HTTP, and sent again while the app has not acknowledged it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from tests.servers.slack.clock import ServerClock
from tests.servers.slack.deliveries import Delivery
from tests.servers.slack.events import EVENTS, Event, event_callback
from tests.servers.slack.shape import Json
from tests.servers.slack.sockets import Sockets
from tests.servers.slack.webhooks import Webhooks

RETRIES = 3


@dataclass
class Outbox:
    """Everything that happened, in order; it goes to the address for requests where there is one, or to a socket.

    While it is `paused`, nothing is sent at all, as if the first delivery of everything were lost.
    """

    clock: ServerClock
    sockets: Sockets
    webhooks: Webhooks
    subscriptions: set[str]
    paused: bool = False
    deliveries: list[Delivery] = field(default_factory=list[Delivery])

    @property
    def unacknowledged(self) -> list[Delivery]:
        """The events that the app has not acknowledged, and that may be sent again."""
        return [one for one in self.deliveries if one.kind == EVENTS and not one.acked and not one.no_retry]

    def tell(self, event: Event) -> None:
        """Send an event, if the app subscribed to it."""
        if event.name in self.subscriptions:
            event_id = f"Ev{uuid.uuid4().hex[:9].upper()}"
            delivery = self.send(EVENTS, event_callback(event, event_id, self.clock.time()))
            if event.about is not None:
                event.about.deliveries.append(delivery)

    def send(self, kind: str, payload: Json) -> Delivery:
        """Send something that happened."""
        delivery = Delivery(str(uuid.uuid4()), kind, payload)
        self.deliveries.append(delivery)
        if not self.paused:
            self._attempt(delivery, 0, "")
        return delivery

    def repeat(self, *deliveries: Delivery, reason: str = "http_timeout") -> list[Delivery]:
        """Send again what was sent before, whether or not it was acknowledged; none given: what was not.

        The platform gives up after the third time.
        """
        chosen = deliveries or self.unacknowledged
        again = [one for one in chosen if one.attempts == [] or one.attempts[-1].number < RETRIES]
        for delivery in again:
            self._attempt(delivery, delivery.attempts[-1].number + 1 if delivery.attempts else 1, reason)
        return again

    def deliver(self, *deliveries: Delivery) -> None:
        """Send what was sent before as if it had not been."""
        for delivery in deliveries:
            self._attempt(delivery, 0, "")

    def _attempt(self, delivery: Delivery, number: int, reason: str) -> None:
        if self.webhooks.url:
            self.webhooks.send(delivery, number, reason if number else "")
        else:
            self.sockets.send(delivery, number, reason if number else "")
