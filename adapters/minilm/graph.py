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

HEADS, DIMENSION, POSITIONS = 12, 384, 256
EPSILON = 1e-12  # of the layer normalisation, as trained
EMBEDDINGS, LAYER = "inner.embeddings", "inner.encoder.layer."
FUSED = "com.microsoft"  # the domain of the operators that the standard does not have
OPERATORS, FUSED_OPERATORS, FORMAT = 17, 1, 10  # versions of both sets and of the file format
ZERO_POINT = 128  # what stands for 0 in the matrices


class _Graph:
    """A graph while it grows; each method gives the name of what it added.

    Each layer's 8-bit matrix and its scales are among the *weights* under its name with `_q` and `_scale`, unless
    *matrices* names it otherwise.
    """

    def __init__(self, weights: Mapping[str, Array], matrices: Mapping[str, str]) -> None:
        self.weights = weights
        self._matrices = matrices
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
        names = [self._matrices.get(layer, layer) for layer in layers]
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

    def placed(self, words: str, places: Array) -> str:
        """Add to the words what their places say."""
        start, length = self.constant(np.array([0])), self.add("Shape", words, start=1, end=2)
        position = self.add("Slice", self.constant(places), start, length)
        return self.normalised(self.add("Add", words, position), EMBEDDINGS)

    def encoded(self, x: str) -> str:
        """Run through all layers, and return the mean over the tokens."""
        layers = {name.removeprefix(LAYER).partition(".")[0] for name in self.weights if name.startswith(LAYER)}
        for number in range(len(layers)):
            layer = f"{LAYER}{number}"
            x = self._attended(x, f"{layer}.attention")  # then each token is widened, bent, and brought back
            wide = self.add("Gelu", self.linear(x, f"{layer}.intermediate.dense"), domain=FUSED)
            x = self.normalised(self.add("Add", self.linear(wide, f"{layer}.output.dense"), x), f"{layer}.output")
        return self.add("ReduceMean", x, axes=[1], keepdims=0)

    def _attended(self, x: str, layer: str) -> str:
        """Let each token look at all others: query, key and value in one product."""
        packed = self.linear(x, *(f"{layer}.self.{part}" for part in ("query", "key", "value")))
        parts = self.split("Split", packed, parts=3, axis=-1)
        context = self.add("MultiHeadAttention", *parts, domain=FUSED, num_heads=HEADS)
        # Not SkipLayerNormalization: on a CPU it takes several times as long as these two.
        return self.normalised(self.add("Add", self.linear(context, f"{layer}.output.dense"), x), f"{layer}.output")

    def unit(self, x: str) -> str:
        return self.add("LpNormalization", x, axis=-1, p=2)

    def model(self, source: onnx.ValueInfoProto, output: str) -> bytes:
        graph = helper.make_graph(
            [*self._nodes, helper.make_node("Identity", [output], ["vector"])],
            "encoder",
            [source],
            [helper.make_tensor_value_info("vector", onnx.TensorProto.FLOAT, [1, DIMENSION])],
            self._constants,
        )
        sets = [helper.make_opsetid("", OPERATORS), helper.make_opsetid(FUSED, FUSED_OPERATORS)]
        return helper.make_model(graph, opset_imports=sets, ir_version=FORMAT).SerializeToString()


def fused(shipped: bytes) -> bytes:
    """Make the fused graph out of the *shipped* one: `tokens` (1 x length) to `vector` (1 x 384, length 1)."""
    model = onnx.load_from_string(shipped)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    graph = _Graph(weights, _matrices(model))
    vector = graph.unit(graph.encoded(_embedded(graph)))
    return graph.model(helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, [1, "length"]), vector)


def centred(weights: Mapping[str, Array], places: Array, centre: Array) -> bytes:
    """Make a graph of the same kind, which is given the `words` of the tokens (1 x length x 384) as floats.

    Where all vectors of a model lie in one direction, all cosines are high; without this *centre*, they tell apart.
    """
    graph = _Graph(weights, {})
    vector = graph.unit(graph.encoded(graph.placed("words", places)))
    words = helper.make_tensor_value_info("words", onnx.TensorProto.FLOAT, [1, "length", DIMENSION])
    return graph.model(words, graph.unit(graph.add("Sub", vector, graph.constant(centre))))


def _embedded(graph: _Graph) -> str:
    """Look up the tokens' rows and make them floats, then add the places and the one segment that there is."""
    words, places = f"{EMBEDDINGS}.word_embeddings.weight", f"{EMBEDDINGS}.position_embeddings.weight"
    rows = graph.add("Gather", graph.constant(graph.weights[f"{words}_q"]), "tokens")
    scales = graph.add("Gather", graph.constant(graph.weights[f"{words}_scale"]), "tokens")
    word = graph.add("Mul", graph.add("Cast", rows, to=onnx.TensorProto.FLOAT), scales)
    segment = graph.weights[f"{EMBEDDINGS}.token_type_embeddings.weight"][0]
    place = (graph.weights[f"{places}_q"].astype(np.float32) * graph.weights[f"{places}_scale"])[:POSITIONS] + segment
    return graph.placed(word, place)


def _matrices(shipped: onnx.ModelProto) -> Mapping[str, str]:
    """Find the name of each layer's matrix, which the shipped graph only numbers, by the bias added to its product."""
    products = {node.output[0]: node.input[1] for node in shipped.graph.node if node.op_type == "MatMul"}
    sums = (node.input for node in shipped.graph.node if node.op_type == "Add")
    return {bias.removesuffix(".bias"): products[product] for product, bias in sums if bias.endswith(".bias")}
