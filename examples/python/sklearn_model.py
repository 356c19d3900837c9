"""Which of two models, and with which settings? Cross-validated, on scikit-learn's digits.

    pip install scikit-learn
    python3 examples/python/sklearn_model.py

Each model has parameters of its own, and the model of the search knows that. Two trials
are evaluated at a time, in processes.
"""

import cocabo
from cocabo import Choice, Float, Int
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SPACE = {
    "model": Choice(["svm", "forest"]),
    "C": Float(1e-2, 1e2, log=True, when="model == 'svm'"),
    "gamma": Float(1e-4, 1, log=True, when="model == 'svm'"),
    "n_estimators": Int(10, 60, log=True, when="model == 'forest'"),
    "max_features": Float(0.05, 1, when="model == 'forest'"),
    "criterion": Choice(["gini", "entropy"], when="model == 'forest'"),
}
MODELS = {"svm": SVC, "forest": RandomForestClassifier}


def accuracy(trial):
    settings = dict(trial.params)
    made = MODELS[settings.pop("model")](**settings, random_state=0)
    X, y = load_digits(return_X_y=True)
    scores = cross_val_score(make_pipeline(StandardScaler(), made), X[:600], y[:600], cv=3)
    return scores.mean()


def main():
    study = cocabo.create_study(SPACE, direction="maximize", seed=1)
    study.optimize(accuracy, n_trials=20, n_jobs=2, backend="process")
    print(f"accuracy {study.best_value:.4f}: {study.best_params}")


if __name__ == "__main__":
    main()
