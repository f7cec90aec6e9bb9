"""The bot on Discord, in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.chat.product import Product
from bench.discord.probes import DiscordProbes
from bot.roles import Role


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the bot finds everybody."""

    api: str
    gateway: str
    token: str
    model: str


def serve(pipe: Connection, addresses: Addresses, seats: int) -> None:
    """Work until the pipe is closed."""
    environment = {
        "DISCORD_TOKEN": addresses.token,
        "DISCORD_API_URL": addresses.api,
        "DISCORD_GATEWAY_URL": addresses.gateway,
    }
    Product(Role.DISCORD, environment, DiscordProbes()).serve(pipe, model=addresses.model, seats=seats)
