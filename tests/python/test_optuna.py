from __future__ import annotations
import pytest
optuna = pytest.importorskip("optuna")
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
from cocabo.optuna import CoCaBOSampler

class TestConformance(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: CoCaBOSampler(seed=1)
