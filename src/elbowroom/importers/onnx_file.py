"""Where an ONNX model comes from: a file, a ModelProto, a session; parsed once, run by onnxruntime."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from elbowroom.disk import read_whole
from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.onnx_graph import Graph, needs, refuse

_MOST_BYTES: Final = 2_000_000_000


class OnnxFile:
    """An ONNX model in a file, read without running anything."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.content = read_whole(path, _MOST_BYTES)

    @classmethod
    def of(cls, content: bytes, path: str | Path = "model.onnx") -> OnnxFile:
        """The same from bytes that were read already."""
        made = cls.__new__(cls)
        made.path, made.content = Path(path), content
        return made


def content_of(model: Any) -> bytes:
    """The serialized graph of a file, a ModelProto or a session."""
    if isinstance(model, OnnxFile):
        return model.content
    if hasattr(model, "SerializeToString"):
        return bytes(model.SerializeToString())
    providers = list(model.get_providers())
    if providers != ["CPUExecutionProvider"]:
        refuse(f'its session runs on {providers}, whose float32 sums differ; use providers=["CPUExecutionProvider"]')
    if _is_coarse(model):
        refuse("its session multiplies float32 matrices as bfloat16; leave that option out")
    content = getattr(model, "_model_bytes", None)
    if isinstance(content, bytes):
        return content
    path = getattr(model, "_model_path", None)
    if path is None:
        refuse("its session does not say which model it runs; give the file or the ModelProto")
    return read_whole(path, _MOST_BYTES)


def _is_coarse(session: Any) -> bool:
    try:
        asked = session.get_session_options().get_session_config_entry("mlas.enable_gemm_fastmath_arm64_bfloat16")
    except Exception:  # the library raises if the option was never set
        return False
    return bool(asked == "1")


@lru_cache(maxsize=4)
def graph_of(content: bytes) -> Graph:
    onnx = needs("onnx")
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # the library raises its own kinds
        raise InputError(
            f"this is no ONNX model, or it is damaged ({type(error).__name__}: {str(error)[:100]})"
        ) from None
    return Graph(model)


@lru_cache(maxsize=4)
def session_of(content: bytes) -> Any:
    runtime = needs("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except Exception as error:  # the library raises its own kinds
        raise UnsupportedModel(f"onnxruntime refuses this graph ({type(error).__name__}: {str(error)[:200]})") from None
