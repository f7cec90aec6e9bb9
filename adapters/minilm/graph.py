"""The model as a graph of few, fused operators, made from the weights of the shipped one.

The shipped graph turns its int8 weights into floats and multiplies those. Here the products are of 8-bit integers
(`DynamicQuantizeMatMul`), attention is one operator, the embedding table stays int8 and only the rows in use become
floats, and the mean over the tokens, scaled to length 1, is part of the graph. It reads one text without padding, so
that nothing has to be masked. `python -m bench.embedding` compares both. A change here that changes vectors raises
`GRAPH_VERSION` beside the embedder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array: TypeAlias = NDArray[Any]

LAYERS, HEADS, DIMENSION, POSITIONS = 6, 12, 384, 256
EPSILON = 1e-12  # of the layer normalisation, as trained
EMBEDDINGS = "inner.embeddings"
FUSED = "com.microsoft"  # the domain of the operators that the standard does not have
OPERATORS, FUSED_OPERATORS, FORMAT = 17, 1, 10  # versions of both sets and of the file format
ZERO_POINT = 128  # what stands for 0 in the matrices


class _Graph:
    """A graph while it grows; each method gives the name of what it added."""

    def __init__(self, shipped: onnx.ModelProto) -> None:
        self.weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in shipped.graph.initializer}
        self._matrices = _matrices(shipped)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, array: Array) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.split(operator, *inputs, parts=1, domain=domain, **attributes)[0]

    def split(self, operator: str, *inputs: str, parts: int, domain: str = "", **attributes: Any) -> list[str]:
        outputs = [f"{operator}_{len(self._nodes)}_{part}" for part in range(parts)]
        self._nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs

    def linear(self, x: str, *layers: str) -> str:
        """Multiply by the 8-bit matrices of *layers* side by side, each column with its scale, and add the biases."""
        names = [self._matrices[layer] for layer in layers]
        # As uint8, since x64 processors without VNNI cut off sums of two products where the weights are int8: see "When
        # and why do I need to try U8U8?" in
        # https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html.
        matrix = np.concatenate([self.weights[f"{name}_q"] for name in names], axis=1, dtype=np.int16) + ZERO_POINT
        scale = np.concatenate([self.weights[f"{name}_scale"][0] for name in names])
        bias = np.concatenate([self.weights[f"{layer}.bias"] for layer in layers])
        constants = (matrix.astype(np.uint8), scale, np.array(ZERO_POINT, np.uint8), bias)
        return self.add("DynamicQuantizeMatMul", x, *map(self.constant, constants), domain=FUSED)

    def normalised(self, x: str, layer: str) -> str:
        weight, bias = (self.constant(self.weights[f"{layer}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)

    def model(self, output: str) -> bytes:
        graph = helper.make_graph(
            [*self._nodes, helper.make_node("Identity", [output], ["vector"])],
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, [1, "length"])],
            [helper.make_tensor_value_info("vector", onnx.TensorProto.FLOAT, [1, DIMENSION])],
            self._constants,
        )
        sets = [helper.make_opsetid("", OPERATORS), helper.make_opsetid(FUSED, FUSED_OPERATORS)]
        return helper.make_model(graph, opset_imports=sets, ir_version=FORMAT).SerializeToString()


def fused(shipped: bytes) -> bytes:
    """Make the fused graph out of the *shipped* one: `tokens` (1 x length) to `vector` (1 x 384, length 1)."""
    graph = _Graph(onnx.load_from_string(shipped))
    x = _embedded(graph)
    for number in range(LAYERS):
        layer = f"inner.encoder.layer.{number}"
        x = _attended(graph, x, f"{layer}.attention")  # then each token is widened, bent, and brought back
        wide = graph.add("Gelu", graph.linear(x, f"{layer}.intermediate.dense"), domain=FUSED)
        x = graph.normalised(graph.add("Add", graph.linear(wide, f"{layer}.output.dense"), x), f"{layer}.output")
    mean = graph.add("ReduceMean", x, axes=[1], keepdims=0)
    return graph.model(graph.add("LpNormalization", mean, axis=-1, p=2))


def _embedded(graph: _Graph) -> str:
    """Look up the tokens' rows and make them floats, then add the places and the one segment that there is."""
    words, places = f"{EMBEDDINGS}.word_embeddings.weight", f"{EMBEDDINGS}.position_embeddings.weight"
    rows = graph.add("Gather", graph.constant(graph.weights[f"{words}_q"]), "tokens")
    scales = graph.add("Gather", graph.constant(graph.weights[f"{words}_scale"]), "tokens")
    word = graph.add("Mul", graph.add("Cast", rows, to=onnx.TensorProto.FLOAT), scales)
    segment = graph.weights[f"{EMBEDDINGS}.token_type_embeddings.weight"][0]
    place = (graph.weights[f"{places}_q"].astype(np.float32) * graph.weights[f"{places}_scale"])[:POSITIONS] + segment
    start, length = graph.constant(np.array([0])), graph.add("Shape", "tokens", start=1)
    position = graph.add("Slice", graph.constant(place), start, length)
    return graph.normalised(graph.add("Add", word, position), EMBEDDINGS)


def _attended(graph: _Graph, x: str, layer: str) -> str:
    """Let each token look at all others: query, key and value in one product."""
    packed = graph.linear(x, *(f"{layer}.self.{part}" for part in ("query", "key", "value")))
    parts = graph.split("Split", packed, parts=3, axis=-1)
    context = graph.add("MultiHeadAttention", *parts, domain=FUSED, num_heads=HEADS)
    # Not SkipLayerNormalization: on a CPU it takes several times as long as these two.
    return graph.normalised(graph.add("Add", graph.linear(context, f"{layer}.output.dense"), x), f"{layer}.output")


def _matrices(shipped: onnx.ModelProto) -> Mapping[str, str]:
    """Find the name of each layer's matrix, which the shipped graph only numbers, by the bias added to its product."""
    products = {node.output[0]: node.input[1] for node in shipped.graph.node if node.op_type == "MatMul"}
    sums = (node.input for node in shipped.graph.node if node.op_type == "Add")
    return {bias.removesuffix(".bias"): products[product] for product, bias in sums if bias.endswith(".bias")}
