"""Chains of operations, which run in fewer kernels than the operations one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._plans import _found

_NAMES = frozenset(operation["name"] for operation in _core.operations())


class Result:
    """A result of a chain's operation, which exists only while the chain runs. Later operations of the chain
    take it as a source."""

    def __init__(self, chain: Chain, number: int) -> None:
        self._chain = chain
        self._number = number


class Chain:
    """Records operations, and runs them fused: intermediate results that nothing else needs are not stored.

    Every operation is a method. It takes the sources by position, and the arguments of the function of the
    same name by keyword, except `out`. It returns a Result, or a tuple of several, for later operations and
    for run().

        chain = tmajit.Chain()
        scaled = chain.map(x, expression="x * 0.125f")
        y = chain.run(chain.softmax(scaled))

    Attributes:
        sentences: which operations the last run() fused, and why it did not fuse others.
        kernels: the names of the kernels that the last run() launched.
        Both are empty before the first run() and after an operation was added.
    """

    def __init__(self) -> None:
        self._core = _core.Chain()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _NAMES:
            raise AttributeError(f"a chain has no operation {name!r}")
        return lambda *sources, dtype=None, **arguments: self._add(name, sources, dtype, arguments)

    def _add(self, name: str, sources: tuple, dtype: Any, arguments: dict[str, Any]) -> Any:
        number, values = _found(name, arguments)
        given = []
        for source in sources:
            if isinstance(source, Result) and source._chain is not self:
                raise ValueError(f"{name}: a source is a result of another chain")
            given.append((source._number,) if isinstance(source, Result) else source)
        made = [Result(self, n) for n in self._core.add(number, tuple(given), dtype, values)]
        return made[0] if len(made) == 1 else tuple(made)

    def run(self, *results: Result) -> Any:
        """Runs the operations, on the elements that the sources have now.

        The first run for some results plans the chain. Later runs for the same results only allocate them and
        launch the kernels, unless operations were added in between.

        Args:
            results: the results to store. All others are intermediate.

        Returns:
            A new tensor of the first source's library, or a tuple of one for each of several results.

        Raises:
            ValueError: no result is given, or one of another chain.
            SpecError, CompileError: as the functions of the operations do.
        """
        if not results or any(result._chain is not self for result in results):
            raise ValueError("run() takes results of this chain, at least one")
        made = self._core.run([result._number for result in results])
        return made[0] if len(results) == 1 else tuple(made)

    @property
    def sentences(self) -> list[str]:
        return self._core.sentences

    @property
    def kernels(self) -> list[str]:
        return self._core.kernels
