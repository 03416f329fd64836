"""The exceptions of tmajit."""

from __future__ import annotations


class Violation:
    """One rule that a call breaks."""

    __slots__ = ("rule", "subject", "found", "need", "legal", "source")

    def __init__(self, rule: str, subject: str, found: str, need: str, legal: str, source: str) -> None:
        self.rule = rule  #: stable identifier, "box.inner-bytes"
        self.subject = subject  #: the field that breaks the rule
        self.found = found  #: the offending value
        self.need = need  #: the rule in words
        self.legal = legal  #: the nearest legal value
        self.source = source  #: the document that states the rule

    def __repr__(self) -> str:
        return f"Violation(rule={self.rule!r}, found={self.found!r}, legal={self.legal!r})"


class Error(Exception):
    """The base class of tmajit's errors. The message says what would be legal.

    Attributes:
        code: the kind of the error: "unavailable", "device_failed", …
        violations: a Violation for each broken rule; empty if the error is about no rule.
    """

    def __init__(
        self, message: str, code: str = "internal", violations: list[Violation] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.violations = violations or []

    def _first(self, field: str) -> str:
        return getattr(self.violations[0], field) if self.violations else ""

    @property
    def rule(self) -> str:
        """The identifier of the first broken rule; empty if there are no violations."""
        return self._first("rule")

    @property
    def found(self) -> str:
        """The value that breaks the first broken rule."""
        return self._first("found")

    @property
    def legal(self) -> str:
        """The legal value that is nearest to `found`."""
        return self._first("legal")


class ArgumentError(Error, ValueError):
    """An illegal argument: a shape, an axis, a name or a number of tensors."""


class SpecError(Error, ValueError):
    """Tensors break rules of the driver, the PTX ISA or the hardware. `violations` lists all broken rules."""


class CompileError(Error):
    """The compiler refused an expression or a kernel.

    Attributes:
        log: the compiler's output, unchanged.
    """

    def __init__(self, message: str, code: str = "compile_failed", log: str = "") -> None:
        super().__init__(message, code)
        self.log = log
