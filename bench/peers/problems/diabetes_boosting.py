#!/usr/bin/env python3
"""diabetes_boosting.py - how is gradient boosting set? Numbers and categories, on real data.

scikit-learn's GradientBoostingRegressor for its diabetes set (442 patients, 10 features):
four categories and five numbers, and no conditions. The value is the mean coefficient of
determination over three fixed folds, to be maximised. Everything is seeded, so that a point
has one value.
"""

from __future__ import annotations

from typing import Any

from serving import Point, serve

PARAMETERS: dict[str, dict[str, Any]] = {
    "loss": {"type": "choice",
             "choices": ["squared_error", "absolute_error", "huber", "quantile"]},
    "inputs": {"type": "choice", "choices": ["raw", "ranks", "components", "squares"]},
    "target": {"type": "choice", "choices": ["raw", "log", "ranks"]},
    "features": {"type": "choice", "choices": ["all", "half", "sqrt", "one"]},
    "rate": {"type": "float", "low": 0.005, "high": 0.5, "log": True},
    "trees": {"type": "int", "low": 10, "high": 150, "log": True},
    "depth": {"type": "int", "low": 1, "high": 6},
    "leaf": {"type": "int", "low": 1, "high": 40, "log": True},
    "subsample": {"type": "float", "low": 0.3, "high": 1.0},
}


def load() -> tuple:
    from sklearn.datasets import load_diabetes
    return load_diabetes(return_X_y=True)


def regressor(point: Point):
    import numpy
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.decomposition import PCA
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer
    ranks = QuantileTransformer(n_quantiles=100, output_distribution="normal",
                                random_state=0)
    inputs = {"raw": "passthrough", "ranks": ranks, "components": PCA(),
              "squares": PolynomialFeatures(2, include_bias=False)}[point["inputs"]]
    boosted = GradientBoostingRegressor(
        loss=point["loss"], alpha=0.5 if point["loss"] == "quantile" else 0.9,
        learning_rate=point["rate"], n_estimators=point["trees"], max_depth=point["depth"],
        min_samples_leaf=point["leaf"], subsample=point["subsample"],
        max_features={"all": None, "half": 0.5, "sqrt": "sqrt", "one": 1}[point["features"]],
        random_state=0)
    target = {"raw": {}, "log": {"func": numpy.log, "inverse_func": numpy.exp},
              "ranks": {"transformer": ranks}}[point["target"]]
    return TransformedTargetRegressor(make_pipeline(inputs, boosted), **target)


def value(data: tuple, point: Point) -> float:
    from sklearn.model_selection import KFold, cross_val_score
    folds = KFold(3, shuffle=True, random_state=0)
    return float(cross_val_score(regressor(point), *data, cv=folds, scoring="r2").mean())


if __name__ == "__main__":
    serve(PARAMETERS, load, value)
