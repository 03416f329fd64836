"""Loads the package's pytest plugin, unless an installed tmajit has registered it."""

from importlib.metadata import entry_points

if not entry_points(group="pytest11", name="tmajit"):
    pytest_plugins = ["tmajit.pytest_plugin"]
