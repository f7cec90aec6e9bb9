"""How the bot is watched: signs of life and figures over HTTP."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings


class Watching(BaseSettings):
    """Where a process of the bot says how it is."""

    health_port: Annotated[
        int | None,
        Field(
            validation_alias="FOOTNOTE_HEALTH_PORT",
            ge=1,
            le=65_535,
            description="The port at which `footnote run` answers /live, /ready and /metrics. "
            "Without it, there is none.",
        ),
    ] = None
    health_host: Annotated[
        str,
        Field(
            validation_alias="FOOTNOTE_HEALTH_HOST",
            min_length=1,
            description="The address of this machine for that port. In a container it has to be 0.0.0.0; "
            "nobody has to log in there.",
        ),
    ] = "127.0.0.1"
