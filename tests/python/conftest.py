"""What the tests of the Python package share: the checkout's package, and the build's
library and programs.

    COCABO_BUILD=build python -m pytest tests/python
"""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("COCABO_BUILD", ROOT / "build")).resolve()
os.environ.setdefault("COCABO_LIBRARY", str(BUILD / "libcocabo.so"))
# Processes that a test starts shall find the package and the tests too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT / "python"), str(ROOT / "tests/python"), os.environ.get("PYTHONPATH", "")]
)
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]
# A sanitized library is slow and keeps what is freed: no test of time or memory then.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
measures = pytest.mark.skipif(SANITIZED, reason="a sanitized library is not what is measured")


def pytest_configure(config):
    config.addinivalue_line("markers", "ray: starts a local Ray; -m 'not ray' leaves it out")


@pytest.fixture(scope="session")
def cluster():
    """One local Ray for all tests that need one, and for the programs that they start."""
    import ray

    os.environ.update(RAY_AIR_NEW_OUTPUT="0", TUNE_DISABLE_AUTO_CALLBACK_LOGGERS="1")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
    yield
    del os.environ["RAY_ADDRESS"]
    ray.shutdown()


@pytest.fixture
def program():
    """The program cocabo of the same build."""
    return str(BUILD / "cocabo")


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"
