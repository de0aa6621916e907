"""Damaged ONNX files, tried in a process of its own: the runtime is native code and may crash where it is asked too early.

``python -m tests.support.onnx_mutants SEED FIRST COUNT`` tries mutants and writes one line of JSON per mutant, before and
after each try, so that the one that crashed or hung is known.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

ROWS = 400  # per replay
NUMBERS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-45,
    -1e-45,
    1e30,
    -1e30,
    3.4e38,
    float("inf"),
    float("-inf"),
    float("nan"),
    1e-30,
)
WHOLES = (0, 1, -1, 2, 3, 4, 7, 8, 11, 16, 255, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 10**6)
WORDS = (
    b"",
    b"LEAF",
    b"BRANCH_LEQ",
    b"BRANCH_LT",
    b"BRANCH_EQ",
    b"BRANCH_GT",
    b"SOFTMAX",
    b"LOGISTIC",
    b"NONE",
    b"\xff\xfe",
    b"x" * 99,
)
OPS = ("Relu", "Identity", "MatMul", "Gemm", "Add", "Softmax", "Sigmoid", "Tanh", "LeakyRelu", "Cast", "ArgMax", "Scaler",
       "TreeEnsembleClassifier", "LinearClassifier", "Dropout", "If", "Loop", "Flatten", "Constant", "")  # fmt: skip


def honest() -> list[Any]:
    """Models of all families, small."""
    from tests.support.onnx_models import DOUBLE, FLOAT, SKLEARN, exported, layered, stump

    kinds = [kind for kind in SKLEARN if kind not in ("forest", "boosting", "extra trees that tie")]
    found = [exported(kind, words)[0] for kind in kinds for words in (False, True)]
    found += [layered(FLOAT), layered(DOUBLE), layered(FLOAT, 1, alpha=0.5, transB=1)]
    found += [stump([(1, 0, -0.2), (2, 0, 0.2)], [5, 9]), stump([(1, 0, 1.0), (1, 1, 0.2), (2, 2, 1.0)], [3, 4, 5])]
    return found


def mutant(model: Any, rng: random.Random) -> tuple[bytes, str]:
    """The bytes of a damaged model, and what was done to it."""
    copy = type(model)()
    copy.CopyFrom(model)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        change = rng.choice((_attribute, _attribute, _attribute, _attribute, _constant, _wiring, _node, _shape))
        done.append(change(copy, rng))
    content = copy.SerializeToString()
    if rng.random() < 0.25:
        content, how = _bytes(content, rng)
        done.append(how)
    return content, ", ".join(done)


def _bytes(content: bytes, rng: random.Random) -> tuple[bytes, str]:
    data = bytearray(content)
    at = rng.randrange(len(data))
    kind = rng.choice(("flip", "cut", "insert", "remove"))
    if kind == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "insert":
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 4, 40))))
    else:
        del data[at : at + rng.choice((1, 4, 40))]
    return bytes(data), f"{kind} at byte {at}"


def _attribute(model: Any, rng: random.Random) -> str:
    found = [(node, a) for node in model.graph.node for a in node.attribute]
    if not found:
        return "nothing"
    node, a = rng.choice(found)
    for values, others in ((a.ints, WHOLES), (a.floats, NUMBERS), (a.strings, WORDS)):
        if len(values):
            at = rng.randrange(len(values))
            way = rng.random()
            if way < 0.1:
                del values[at]
            elif way < 0.2:
                values.append(values[at])
            else:
                values[at] = rng.choice(list(values)) if way < 0.5 else rng.choice(others)
            return f"{node.op_type}.{a.name}[{at}]"
    if a.type == 2:
        a.i = rng.choice(WHOLES)
    elif a.type == 1:
        a.f = rng.choice(NUMBERS)
    elif a.type == 3:
        a.s = rng.choice(WORDS)
    if rng.random() < 0.1:
        a.type = rng.randrange(12)
    if rng.random() < 0.05:
        a.name = rng.choice([other.name for other in node.attribute])
    return f"{node.op_type}.{a.name}"


def _constant(model: Any, rng: random.Random) -> str:
    if not len(model.graph.initializer):
        return "nothing"
    tensor = rng.choice(model.graph.initializer)
    way = rng.randrange(5)
    if way == 0 and len(tensor.dims):
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(WHOLES)
    elif way == 1:
        tensor.data_type = rng.randrange(20)
    elif way == 2 and len(tensor.raw_data) >= 4:
        data = bytearray(tensor.raw_data)
        at = rng.randrange(len(data))
        data[at] = rng.randrange(256)
        tensor.raw_data = bytes(data)
    elif way == 3:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    else:
        tensor.name = rng.choice([other.name for other in model.graph.initializer])
    return f"constant {tensor.name}"


def _names(model: Any) -> list[str]:
    values = [name for node in model.graph.node for name in (*node.input, *node.output)]
    return [*values, *(tensor.name for tensor in model.graph.initializer), "", "nowhere"]


def _wiring(model: Any, rng: random.Random) -> str:
    node = rng.choice(model.graph.node)
    ends = node.input if rng.random() < 0.6 and len(node.input) else node.output
    if not len(ends):
        return "nothing"
    at = rng.randrange(len(ends))
    way = rng.random()
    if way < 0.15:
        del ends[at]
    elif way < 0.25:
        ends.append(rng.choice(_names(model)))
    else:
        ends[at] = rng.choice(_names(model))
    return f"wires of {node.op_type}"


def _node(model: Any, rng: random.Random) -> str:
    nodes = model.graph.node
    at = rng.randrange(len(nodes))
    way = rng.randrange(5)
    if way == 0 and len(nodes) > 1:
        del nodes[at]
    elif way == 1:
        nodes.append(nodes[at])
    elif way == 2:
        nodes[at].op_type = rng.choice(OPS)
    elif way == 3:
        nodes[at].domain = rng.choice(("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "x"))
    else:
        entry = rng.choice(model.opset_import)
        entry.version = rng.choice((0, 1, 5, 7, 9, 11, 13, 17, 21, 99, -1))
    return f"node {at}"


def _shape(model: Any, rng: random.Random) -> str:
    ends = [*model.graph.input, *model.graph.output]
    end = rng.choice(ends)
    way = rng.randrange(4)
    if way == 0:
        end.type.tensor_type.elem_type = rng.randrange(17)
    elif way == 1 and len(end.type.tensor_type.shape.dim):
        rng.choice(end.type.tensor_type.shape.dim).dim_value = rng.choice(WHOLES)
    elif way == 2:
        end.type.tensor_type.shape.dim.add()
    else:
        end.name = rng.choice(_names(model))
    return f"shape of {end.name}"


def attempt(content: bytes) -> str:
    """ "refused: ...", "mismatch: ..." or "replayed"; anything else is an exception."""
    from elbowroom.errors import ElbowroomError, ReplayMismatch
    from elbowroom.importers import open_model, replay
    from elbowroom.importers.onnx_file import OnnxFile

    try:
        opened = open_model(OnnxFile.of(content), replay=False)
        replay(opened.model, opened.original, limit=ROWS)
    except ReplayMismatch as error:
        return f"mismatch: {error}"
    except ElbowroomError as error:
        return f"refused: {error}"
    return "replayed"


def main(seed: int, first: int, count: int) -> None:
    models = honest()
    for number in range(first, first + count):
        rng = random.Random(f"{seed} {number}")
        content, story = mutant(rng.choice(models), rng)
        sys.stdout.write(json.dumps({"try": number, "story": story}) + "\n")
        sys.stdout.flush()
        try:
            outcome = attempt(content)
        except Exception as error:  # reported, and judged by the test
            outcome = f"exception: {type(error).__name__}: {error}"
        sys.stdout.write(json.dumps({"done": number, "story": story, "outcome": outcome}) + "\n")
        sys.stdout.flush()


def run(seed: int, count: int, seconds: float) -> list[dict[str, Any]]:
    """What became of every mutant; AssertionError if the process crashed or hung."""
    command = [sys.executable, "-m", "tests.support.onnx_mutants", str(seed), "0", str(count)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        last = (error.stdout or b"").decode("utf-8", "replace").splitlines()[-1:]
        raise AssertionError(f"a mutant hangs, or the machine is slow: {last}") from None
    lines = [json.loads(line) for line in made.stdout.splitlines()]
    assert made.returncode == 0, f"the process ended with {made.returncode} at {lines[-1:]}: {made.stderr[-2000:]}"
    return [line for line in lines if "done" in line]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
