"""A mixed Gaussian process by BoTorch: MixedSingleTaskGP, LogEI, optimize_acqf_mixed."""

from __future__ import annotations

import itertools
import math
import warnings

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf, optimize_acqf_mixed
from gpytorch.mlls import ExactMarginalLogLikelihood

from space import Point, Space

warnings.simplefilter("ignore")  # about the scale of inputs and failed line searches

MOST_COMBINATIONS = 200          # optimize_acqf_mixed climbs once in each


class Mixed:
    """Numbers are inputs in [0, 1], choices are inputs that hold their index. A failed
    evaluation counts as the worst value seen."""

    def __init__(self, space: Space, seed: int, total: int) -> None:
        if space.combinations > MOST_COMBINATIONS:
            raise ValueError(
                f"the problem has {space.combinations} combinations of choices, and "
                f"optimize_acqf_mixed tries each: want at most {MOST_COMBINATIONS}")
        self._space = space
        self._choices = [i for i, p in enumerate(space) if p.is_choice]
        self._points: list[list[float]] = []
        self._values: list[float | None] = []
        torch.manual_seed(seed)

    def _scaled(self, point: Point) -> list[float]:
        return [number if p.is_choice else self._to_unit(p, number)
                for p, number in zip(self._space, self._space.numbers(point))]

    @staticmethod
    def _to_unit(p, number: float) -> float:
        low, high = p.bounds
        if p.log:
            low, high, number = math.log(low), math.log(high), math.log(number)
        return (number - low) / (high - low)

    @staticmethod
    def _from_unit(p, unit: float) -> float:
        low, high = p.bounds
        if p.log:
            return math.exp(math.log(low) + unit * (math.log(high) - math.log(low)))
        return low + unit * (high - low)

    def _fit(self, x: torch.Tensor, y: torch.Tensor) -> SingleTaskGP:
        transform = Standardize(m=1)
        model = (MixedSingleTaskGP(x, y, cat_dims=self._choices,
                                   outcome_transform=transform)
                 if self._choices else SingleTaskGP(x, y, outcome_transform=transform))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _maximise(self, acquisition) -> torch.Tensor:
        top = [len(p.choices) - 1 if p.is_choice else 1 for p in self._space]
        bounds = torch.tensor([[0.0] * len(top), top], dtype=torch.double)
        if not self._choices:
            return optimize_acqf(acquisition, bounds, q=1, num_restarts=10,
                                 raw_samples=256)[0]
        ranges = [range(top[i] + 1) for i in self._choices]
        fixed = [dict(zip(self._choices, map(float, combination)))
                 for combination in itertools.product(*ranges)]
        return optimize_acqf_mixed(acquisition, bounds, q=1, num_restarts=2,
                                   raw_samples=32, fixed_features_list=fixed)[0]

    def ask(self) -> Point:
        worst = min((v for v in self._values if v is not None), default=0.0)
        values = [worst if v is None else v for v in self._values]
        x = torch.tensor(self._points, dtype=torch.double)
        y = torch.tensor(values, dtype=torch.double).unsqueeze(-1)
        best = self._maximise(LogExpectedImprovement(self._fit(x, y), y.max()))
        return self._space.point(
            unit if p.is_choice else self._from_unit(p, unit)
            for p, unit in zip(self._space, best.squeeze(0).tolist()))

    def tell(self, point: Point, value: float | None) -> None:
        self._points.append(self._scaled(point))
        self._values.append(value)
