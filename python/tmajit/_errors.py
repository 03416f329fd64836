"""The exceptions of tmajit."""

from __future__ import annotations


class Violation:
    """One rule that a call breaks."""

    __slots__ = ("rule", "subject", "found", "need", "legal", "source")

    def __init__(self, rule: str, subject: str, found: str, need: str, legal: str, source: str) -> None:
        self.rule = rule  #: stable identifier, "box.inner-bytes"
        self.subject = subject  #: the field that breaks it
        self.found = found  #: the offending value
        self.need = need  #: the rule in words
        self.legal = legal  #: the nearest legal value
        self.source = source  #: where the rule is written

    def __repr__(self) -> str:
        return f"Violation(rule={self.rule!r}, found={self.found!r}, legal={self.legal!r})"


class Error(Exception):
    """An error of tmajit; its text is a sentence that says what would be legal.

    Attributes:
        code: the kind of the error: "unavailable", "device_failed", …
        violations: every rule that is broken, where the error knows them.
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
        """The first broken rule's identifier, or an empty text."""
        return self._first("rule")

    @property
    def found(self) -> str:
        """The value that breaks it."""
        return self._first("found")

    @property
    def legal(self) -> str:
        """The nearest legal value."""
        return self._first("legal")


class ArgumentError(Error, ValueError):
    """An argument that can never be right: a shape, an axis, a name, a number of tensors."""


class SpecError(Error, ValueError):
    """Tensors that break rules of the driver, the PTX ISA or the hardware; `violations` has all of them."""


class CompileError(Error):
    """The compiler refused an expression or a kernel.

    Attributes:
        log: the compiler's text, unchanged.
    """

    def __init__(self, message: str, code: str = "compile_failed", log: str = "") -> None:
        super().__init__(message, code)
        self.log = log
