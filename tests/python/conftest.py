"""The plugin of the package, which an installed one brings by itself."""

from importlib.metadata import entry_points

if not entry_points(group="pytest11", name="tmajit"):
    pytest_plugins = ["tmajit.pytest_plugin"]
