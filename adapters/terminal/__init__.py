"""The terminal as a surface: rich on a screen, plain in a pipe, JSON for programs."""

from adapters.terminal.surface import JsonSurface, PlainSurface, ScreenSurface

__all__ = ["JsonSurface", "PlainSurface", "ScreenSurface"]
