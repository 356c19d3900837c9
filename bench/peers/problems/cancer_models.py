#!/usr/bin/env python3
"""cancer_models.py - which classifier, and how set? A space with conditions, on real data.

A support vector machine, a network or a forest for scikit-learn's breast-cancer set (569
samples of 30 features): 12 parameters, 9 of which belong to one of the three. The value
is the mean log loss over three fixed folds, times -1, for it is maximised. Everything is
seeded, so that a point has one value.

Initial points have a value for every parameter, for methods that know no conditions;
what the chosen classifier does not have is ignored.
"""

from __future__ import annotations

from typing import Any

from serving import Point, serve

SVM, MLP, FOREST = ({"model": [name]} for name in ("svm", "mlp", "forest"))
PARAMETERS: dict[str, dict[str, Any]] = {
    "model": {"type": "choice", "choices": ["svm", "mlp", "forest"]},
    "scale": {"type": "choice", "choices": ["standard", "robust", "quantile"]},
    "inputs": {"type": "int", "low": 2, "high": 30},
    "C": {"type": "float", "low": 1e-3, "high": 1e3, "log": True, "if": SVM},
    "gamma": {"type": "float", "low": 1e-5, "high": 1.0, "log": True, "if": SVM},
    "kernel": {"type": "choice", "choices": ["rbf", "poly", "sigmoid"], "if": SVM},
    "units": {"type": "int", "low": 4, "high": 128, "log": True, "if": MLP},
    "alpha": {"type": "float", "low": 1e-6, "high": 10.0, "log": True, "if": MLP},
    "rate": {"type": "float", "low": 1e-4, "high": 0.1, "log": True, "if": MLP},
    "trees": {"type": "int", "low": 10, "high": 100, "log": True, "if": FOREST},
    "depth": {"type": "int", "low": 1, "high": 16, "if": FOREST},
    "share": {"type": "float", "low": 0.05, "high": 1.0, "if": FOREST},
}


class Folds:
    """The three folds, scaled, with the inputs in the order of their F statistic."""

    def __init__(self) -> None:
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import StratifiedKFold
        self._x, self._y = load_breast_cancer(return_X_y=True)
        split = StratifiedKFold(3, shuffle=True, random_state=0)
        self._folds = list(split.split(self._x, self._y))
        self._scaled: dict[str, list] = {}

    def scaled(self, scale: str) -> list:
        """Of each fold the inputs and classes to learn from, then those to predict."""
        if scale not in self._scaled:
            self._scaled[scale] = [self._scale(scale, *fold) for fold in self._folds]
        return self._scaled[scale]

    def _scale(self, scale: str, learn, test) -> tuple:
        from sklearn.feature_selection import f_classif
        from sklearn.preprocessing import (QuantileTransformer, RobustScaler,
                                           StandardScaler)
        scaler = {"standard": StandardScaler(), "robust": RobustScaler(),
                  "quantile": QuantileTransformer(
                      n_quantiles=100, output_distribution="normal", random_state=0)}
        x = scaler[scale].fit_transform(self._x[learn])
        order = f_classif(x, self._y[learn])[0].argsort()[::-1]
        return (x[:, order], self._y[learn],
                scaler[scale].transform(self._x[test])[:, order], self._y[test])


def classifier(point: Point):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC
    if point["model"] == "svm":
        machine = SVC(C=point["C"], gamma=point["gamma"], kernel=point["kernel"])
        return CalibratedClassifierCV(machine, ensemble=False, cv=3)
    if point["model"] == "mlp":
        return MLPClassifier((point["units"],), alpha=point["alpha"], max_iter=60,
                             learning_rate_init=point["rate"], random_state=0)
    return RandomForestClassifier(point["trees"], max_depth=point["depth"],
                                  max_features=point["share"], criterion="entropy",
                                  random_state=0)


def value(folds: Folds, point: Point) -> float:
    from sklearn.metrics import log_loss
    losses, n = [], point["inputs"]
    for x, y, x_test, y_test in folds.scaled(point["scale"]):
        fitted = classifier(point).fit(x[:, :n], y)
        losses.append(log_loss(y_test, fitted.predict_proba(x_test[:, :n])))
    return -sum(losses) / len(losses)


if __name__ == "__main__":
    serve(PARAMETERS, Folds, value)
