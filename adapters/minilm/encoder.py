"""Runs the fused graph."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from core.model import Vector


class Encoder:
    """A loaded graph: tokens in, a vector of length 1 out. Many threads may use it at once."""

    def __init__(self, graph: bytes) -> None:
        """Load the *graph*, which takes about a tenth of a second."""
        runtime: Any = import_module("onnxruntime")  # untyped
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # the texts are the parallelism, and a sum has one order of terms
        options.inter_op_num_threads = 1
        # The graph is fused already; the optimizer would put SkipLayerNormalization back, which is slower.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_cpu_mem_arena = False  # costs no time here, and holds 10 MB
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def encode(self, tokens: Sequence[int]) -> Vector:
        """Embed one text."""
        import numpy as np

        (vectors,) = self._session.run(None, {"tokens": np.asarray([tokens], dtype=np.int64)})
        return vectors[0].tolist()
