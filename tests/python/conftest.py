pytest_plugins = ["tmajit.pytest_plugin"]
