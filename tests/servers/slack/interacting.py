"""What people do with the app's commands, buttons and forms."""

from __future__ import annotations

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from tests.servers.slack.channels import Channel
from tests.servers.slack.deliveries import Delivery
from tests.servers.slack.events import COMMANDS, INTERACTIVE, VERIFICATION_TOKEN
from tests.servers.slack.filling import values_of
from tests.servers.slack.messages import Message, elements_of
from tests.servers.slack.outbox import Outbox
from tests.servers.slack.payloads import message_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.responding import say
from tests.servers.slack.response_urls import ResponseUrl
from tests.servers.slack.shape import Json
from tests.servers.slack.users import User
from tests.servers.slack.view_routes import add_view, read_view
from tests.servers.slack.views import Trigger, View
from tests.servers.slack.workspaces import Workspace


class Interacting(ABC):
    """People use the app here; each use is told to the app once, and never again."""

    platform: Platform
    outbox: Outbox
    _following: set[asyncio.Task[None]]

    @property
    @abstractmethod
    def url(self) -> str:
        """Where the server is."""

    def slash(self, user: User, channel: Channel, command: str, text: str = "") -> Delivery:
        """Use a command in a channel, outside of threads; words that come with the acknowledgement are shown."""
        workspace = self._workspace(user, channel)
        url = self._response_url("commands", workspace, channel, user)
        payload: Json = {
            "token": VERIFICATION_TOKEN,
            "team_id": workspace.team_id,
            "team_domain": workspace.domain,
            "channel_id": channel.id,
            "channel_name": channel.name,
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": workspace.app_id,
            "is_enterprise_install": str(workspace.is_enterprise_install).lower(),
            "response_url": f"{self.url}{url.path}",
            "trigger_id": self._trigger(user, workspace),
        }
        if workspace.enterprise_id is not None:
            payload |= {"enterprise_id": workspace.enterprise_id, "enterprise_name": "Robotics"}
        delivery = self.outbox.send(COMMANDS, payload)
        self._follow(delivery, partial(self._said, url))
        return delivery

    def shortcut(self, user: User, channel: Channel, message: Message, callback_id: str) -> Delivery:
        """Use a shortcut of a message, also in a channel where the bot is not."""
        workspace = self._workspace(user, channel)
        url = self._response_url("app", workspace, channel, user)
        url.thread_ts = message.thread_ts
        payload: Json = {
            **self._actor("message_action", user, workspace),
            "action_ts": self.platform.new_ts(),
            "callback_id": callback_id,
            "trigger_id": self._trigger(user, workspace),
            "response_url": f"{self.url}{url.path}",
            "channel": {"id": channel.id, "name": channel.name},
            "message_ts": message.ts,
            "message": message_payload(self.platform, message, with_metadata=False),
        }
        return self.outbox.send(INTERACTIVE, payload)

    def press(self, user: User, place: Message | View, action_id: str, value: str | None = None) -> Delivery:
        """Press a button of a message or a view; of two buttons with one id, the one with this value."""
        if isinstance(place, View):
            return self._press_in_view(user, place, action_id, value)
        channel = self.platform.channels[place.channel_id]
        workspace = self._workspace(user, channel)
        url = self._response_url("actions", workspace, channel, user)
        url.thread_ts, url.original = place.thread_ts, (channel.id, place.ts)
        container: Json = {
            "type": "message",
            "message_ts": place.ts,
            "channel_id": channel.id,
            "is_ephemeral": place.ephemeral,
            **({"thread_ts": place.thread_ts} if place.thread_ts else {}),
        }
        payload: Json = {
            **self._actor("block_actions", user, workspace),
            "container": container,
            "trigger_id": self._trigger(user, workspace),
            "channel": {"id": channel.id, "name": channel.name},
            "state": {"values": {}},
            "response_url": f"{self.url}{url.path}",
            "actions": [self._action(place.blocks, action_id, value)],
        }
        if not place.ephemeral:
            payload["message"] = message_payload(self.platform, place, with_metadata=False)
        return self.outbox.send(INTERACTIVE, payload)

    def choose(self, user: User, view: View, action_id: str, channels: Iterable[Channel]) -> Delivery:
        """Choose these channels, and no others, in a menu of a view."""
        workspace = self.platform.workspaces[view.team_id]
        menu = self._action(view.blocks, action_id, None)
        payload: Json = {
            **self._actor("block_actions", user, workspace),
            "container": {"type": "view", "view_id": view.id},
            "trigger_id": self._trigger(user, workspace),
            "view": view.payload(),
            "actions": [{**menu, "selected_conversations": [channel.id for channel in channels]}],
        }
        return self.outbox.send(INTERACTIVE, payload)

    def _press_in_view(self, user: User, view: View, action_id: str, value: str | None) -> Delivery:
        workspace = self.platform.workspaces[view.team_id]
        payload: Json = {
            **self._actor("block_actions", user, workspace),
            "container": {"type": "view", "view_id": view.id},
            "trigger_id": self._trigger(user, workspace),
            "view": view.payload(),
            "actions": [self._action(view.blocks, action_id, value)],
        }
        return self.outbox.send(INTERACTIVE, payload)

    def submit(self, user: User, view: View, values: Json) -> Delivery:
        """Send a form off with what was filled in, by the ids of actions; the acknowledgement says what comes next."""
        assert view.is_open, "the form is closed"
        workspace = self.platform.workspaces[view.team_id]
        payload: Json = {
            **self._actor("view_submission", user, workspace),
            "trigger_id": self._trigger(user, workspace),
            "view": view.payload(values_of(view.blocks, values)),
            "response_urls": [],
        }
        delivery = self.outbox.send(INTERACTIVE, payload)
        self._follow(delivery, partial(self._submitted, view))
        return delivery

    def view_of(self, user: User) -> View | None:
        """Give the form that somebody sees, the topmost one."""
        forms = [one for one in self.platform.views.values() if one.user_id == user.id and one.is_open]
        forms = [one for one in forms if one.given.get("type") == "modal"]
        return forms[-1] if forms else None

    def home_of(self, user: User) -> View | None:
        """Give the home that somebody sees."""
        return self.platform.homes.get(user.id)

    # What interactions have in common

    def _workspace(self, user: User, channel: Channel) -> Workspace:
        return self.platform.workspaces.get(user.team_id) or self.platform.workspaces[channel.team_id]

    def _actor(self, kind: str, user: User, workspace: Workspace) -> Json:
        enterprise = None if workspace.enterprise_id is None else {"id": workspace.enterprise_id, "name": "Robotics"}
        team: Json = {"id": workspace.team_id, "domain": workspace.domain}
        if workspace.enterprise_id is not None:
            team |= {"enterprise_id": workspace.enterprise_id, "enterprise_name": "Robotics"}
        return {
            "type": kind,
            "token": VERIFICATION_TOKEN,
            "team": team,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
            "api_app_id": workspace.app_id,
            "enterprise": enterprise,
            "is_enterprise_install": workspace.is_enterprise_install,
        }

    def _action(self, blocks: list[Json], action_id: str, value: str | None) -> Json:
        for element in elements_of(blocks):
            if element.get("action_id") != action_id:
                continue
            names = ("positive_button", "negative_button")
            buttons = [element[name] for name in names] if element["type"] == "feedback_buttons" else [element]
            for button in buttons:
                if value is None or button.get("value") == value:
                    told = {name: element[name] for name in ("type", "action_id", "block_id")}
                    told |= {name: button[name] for name in ("text", "value", "style") if name in button}
                    return {**told, "action_ts": self.platform.new_ts()}
        raise AssertionError(f"there is no button {action_id!r} with the value {value!r}")

    def _trigger(self, user: User, workspace: Workspace) -> str:
        trigger_id = f"{secrets.randbelow(10**12)}.{workspace.team_id}.{secrets.token_hex(8)}"
        self.platform.triggers[trigger_id] = Trigger(user.id, workspace.team_id, self.platform.clock.ahead)
        return trigger_id

    def _response_url(self, kind: str, workspace: Workspace, channel: Channel, user: User) -> ResponseUrl:
        path = f"/{kind}/{workspace.team_id}/{secrets.randbelow(10**12)}/{secrets.token_hex(8)}"
        url = ResponseUrl(path, workspace.team_id, channel.id, user.id, self.platform.clock.time())
        self.platform.response_urls[path] = url
        return url

    # What an acknowledgement brings about

    def _follow(self, delivery: Delivery, act: Callable[[Any], None]) -> None:
        async def follow() -> None:
            await delivery.answered()
            act(delivery.response)
            self.platform.changes.tell()

        task = asyncio.create_task(follow())
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    def _said(self, url: ResponseUrl, said: Any) -> None:
        content: Json = {"text": said} if isinstance(said, str) else (said or {})
        if content.get("text") or content.get("blocks"):
            kept: Json = {"text": content.get("text") or "", "blocks": content.get("blocks") or []}
            message = say(self.platform, url, kept, ephemeral=content.get("response_type") != "in_channel")
            url.original = (message.channel_id, message.ts)

    def _submitted(self, view: View, said: Any) -> None:
        answer: Json = said or {}
        match answer.get("response_action"):
            case "errors":
                pass
            case "update":
                view.change(read_view(answer["view"], "modal"), self.platform.new_ts())
            case "push":
                given = read_view(answer["view"], "modal")
                add_view(self.platform, given, self.platform.users[view.user_id], view.team_id, view)
            case "clear":
                for one in self.platform.views.values():
                    one.is_open = one.is_open and one.root_id != view.root_id
            case _:
                view.is_open = False
