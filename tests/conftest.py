"""What all tests share: the plugin that starts the Java oracles, and how deep laws are tried."""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["oracles.plugin", "cluster.plugin"]

_SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
# `make test` tries the same cases on every machine, so that it fails for what was changed and for
# nothing else; `make test-long` draws new ones each time.
settings.register_profile(
    "test", max_examples=50, derandomize=True, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile("long", max_examples=600, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
