"""XGBoost on scikit-learn's breast cancer data, with a limit on the size of its trees.

    pip install xgboost scikit-learn
    python3 examples/python/xgboost_model.py

How trees grow decides which parameter limits them: a condition each. The number of leaves
is a metric, and a constraint keeps it small.
"""

import cocabo
import xgboost
from cocabo import Choice, Float, Int
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

SPACE = {
    "grow_policy": Choice(["depthwise", "lossguide"]),
    "max_depth": Int(2, 8, when="grow_policy == 'depthwise'"),
    "max_leaves": Int(4, 128, log=True, when="grow_policy == 'lossguide'"),
    "learning_rate": Float(0.01, 1, log=True),
    "subsample": Float(0.5, 1),
    "reg_lambda": Float(0.1, 10, log=True),
}


def leaves(params):
    return 2 ** params["max_depth"] if "max_depth" in params else params["max_leaves"]


def accuracy(trial):
    model = xgboost.XGBClassifier(n_estimators=25, n_jobs=1, **trial.params)
    X, y = load_breast_cancer(return_X_y=True)
    score = cross_val_score(model, X, y, cv=3).mean()
    return {"value": score, "leaves": leaves(trial.params)}


def main():
    study = cocabo.create_study(
        SPACE, direction="maximize", constraints=["leaves <= 32"], seed=1
    )
    study.optimize(accuracy, n_trials=16)
    best = study.best_trial
    print(f"accuracy {best.value:.4f}, {best.metrics['leaves']:.0f} leaves: {best.params}")


if __name__ == "__main__":
    main()
