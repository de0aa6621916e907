"""Numba's compiler without the work that these kernels do not need: the same machine code in half the time.

Numba treats every function as if Python called it: it optimises it, emits machine code, then links it into each caller
and optimises it again there. It also tries every meaning of every operator again at each place where the operator
occurs, and rewrites programs for features (closures, generators, array expressions) that no kernel uses. Here

- an *inner kernel*, which only kernels call, stays as the front end leaves it; the *entry kernel*, which Python calls,
  contains it and is optimised once;
- the meaning of an operator for given argument types is looked up once;
- passes that have nothing to do are left out.

All of this goes through numba's interface for custom compilers (``pipeline_class``). The steps behind it are internals of
numba and of llvmlite: with other versions than exactly those tried, patch numbers included, or where a step is missing,
`lean` offers nothing and kernels are compiled as numba always does, with the same results.
"""

from __future__ import annotations

from typing import Any, Final

import llvmlite
import numba
from numba.core import codegen, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.typing.context import BaseContext

Signature = Any
TRIED: Final = frozenset(  # numba and llvmlite with which all kernels, compiled both ways, were compared bit by bit
    {("0.68.1", "0.50.0")}
)
_NEEDED: Final = (
    (codegen, "create_pass_builder"),
    (codegen.JITCodeLibrary, "_optimize_functions"),
    (codegen.JITCodeLibrary, "_optimize_final_module"),
    (codegen.JITCodeLibrary, "_finalize_final_module"),
    (codegen.JITCodeLibrary, "_finalize_dynamic_globals"),
    (codegen.JITCPUCodegen, "_module_pass_manager"),
    (DefaultPassBuilder, "define_nopython_pipeline"),
    (BaseContext, "_lookup_global"),
    (types.Function, "get_impl_key"),
)
_NOTHING_TO_DO: Final = frozenset(  # names of numba's passes; one that is unknown to numba is left out anyway
    {
        "WithLifting", "InlineClosureLikes", "RewriteSemanticConstants", "DeadBranchPrune", "RewriteDynamicRaises",
        "MakeFunctionToJitFunction", "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass",
        "InlineOverloads", "NopythonRewrites", "AnnotateTypes", "DumpParforDiagnostics",
    }
)  # fmt: skip


def lean(inner: bool) -> dict[str, Any]:
    """The option of ``numba.njit`` that chooses this compiler; none if numba's internals are not those known here."""
    if (numba.__version__, llvmlite.__version__) not in TRIED or not all(
        hasattr(owner, name) for owner, name in _NEEDED
    ):
        return {}
    return {"pipeline_class": _InnerCompiler if inner else _EntryCompiler}


# ---- code ------------------------------------------------------------------------------------------------------------
class _NoEnvironment:
    """In place of the code generator, which is only told about the Python globals of a finished library."""

    def set_env(self, name: str, environment: object) -> None:
        """An inner kernel has none: Python does not call it."""


class _InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Code that is linked into the code of others, never run by itself."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironment()

    def _optimize_functions(self, module: Any) -> None:
        """Also left to the entry kernel."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Left to the entry kernel, which sees how the inner one is used."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call,unused-ignore]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call,unused-ignore]
        return 0  # as of any function that the machine does not have


class _EntryLibrary(codegen.JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Code that Python calls, with all of its inner kernels."""

    def _optimize_final_module(self) -> None:
        """Once. Numba's cheaper round before it prepares for the removal of reference counts; these kernels have few."""
        code: Any = self._codegen
        manager, builder = code._module_pass_manager()
        manager.run(self._final_module, builder)


# ---- types -----------------------------------------------------------------------------------------------------------
_Meaning = tuple[Any, Signature, Any]
_MEMORY: Final = "_elbowroom_meanings"  # an attribute of numba's typing context, which owns what is remembered about it


def _is_operator(kind: object) -> bool:
    return isinstance(kind, types.Function)


class _Remembering:
    """Numba's typing context, with a memory of what operators mean for given argument types and compiler options."""

    def __init__(self, context: Any, options: str) -> None:
        self._context = context
        self._options = options
        self._meanings: dict[tuple[int, tuple[Any, ...], str], _Meaning] = context.__dict__.setdefault(_MEMORY, {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, keywords: Any) -> Signature:
        known: Any = self._context._lookup_global(function) or function
        if keywords or not _is_operator(known):
            return self._context.resolve_function_type(function, args, keywords)
        key = id(known), tuple(args), self._options  # the value holds ``known``, so that its id stays its own
        if key in self._meanings:
            _, signature, implementation = self._meanings[key]
            known._impl_keys[signature.args] = implementation  # what numba notes when it finds a meaning
            return signature
        signature = self._context.resolve_function_type(function, args, keywords)
        if signature is not None and signature.args in known._impl_keys:
            self._meanings[key] = known, signature, known._impl_keys[signature.args]
        return signature

    def resolve_getitem(self, target: Any, index: Any) -> Signature:
        return type(self._context).resolve_getitem(self, target, index)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Signature:
        return type(self._context).resolve_setitem(self, target, index, value)


# ---- the compilers ---------------------------------------------------------------------------------------------------
class _LeanCompiler(CompilerBase):  # type: ignore[misc,unused-ignore]
    library: type[Any]

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.typingctx = _Remembering(state.typingctx, state.flags.summary())
        builder: Any = DefaultPassBuilder
        passes = builder.define_nopython_pipeline(state)
        passes.passes = [step for step in passes.passes if step[0].__name__ not in _NOTHING_TO_DO]
        return [passes]


class _InnerCompiler(_LeanCompiler):
    library = _InnerLibrary


class _EntryCompiler(_LeanCompiler):
    library = _EntryLibrary
