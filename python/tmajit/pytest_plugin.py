"""A pytest plugin: a test fails if tmajit.check() reports a finding in it, and shows the findings.

Mark a test with `@pytest.mark.tmajit_findings` if it expects findings. Findings of severity "advice" fail no
test.
"""

from __future__ import annotations

import pytest

from . import _check


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tmajit_findings: findings of tmajit.check() do not fail the test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    outer = _check._collected  # the reports of an outer test, which runs pytest itself
    collected = _check._collected = []
    try:
        result = yield
    finally:
        _check._collected = outer
    if item.get_closest_marker("tmajit_findings") is None:
        findings = [one for report in collected for one in report if one.severity != "advice"]
        if findings:
            pytest.fail("tmajit.check():\n" + "\n".join(map(str, findings)), pytrace=False)
    return result
