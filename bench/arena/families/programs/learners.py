"""Models of scikit-learn, on the data sets that it ships and one fixed split of each."""

from __future__ import annotations

from typing import Any

from .. import Point, Problem, choice, ordinal, real, switch, whole


class Split:
    """A fixed part to learn from, and another one to judge by."""

    def __init__(self, data: str, train: int, test: int, classes: bool = True,
                 state: int = 0) -> None:
        from sklearn import datasets
        from sklearn.model_selection import train_test_split
        x, y = getattr(datasets, f"load_{data}")(return_X_y=True)
        self.x, self.x_test, self.y, self.y_test = train_test_split(
            x, y, train_size=train, test_size=test, random_state=state,
            stratify=y if classes else None)

    def error(self, model) -> float:
        """The share of wrong classes."""
        return float((model.fit(self.x, self.y).predict(self.x_test) != self.y_test).mean())

    def log_loss(self, model) -> float:
        from sklearn.metrics import log_loss
        return log_loss(self.y_test, model.fit(self.x, self.y).predict_proba(self.x_test))

    def rmse(self, model) -> float:
        wrong = model.fit(self.x, self.y).predict(self.x_test) - self.y_test
        return float((wrong**2).mean() ** 0.5)


class Splits:
    """Several of them, where one alone has too few cases to tell settings apart."""

    def __init__(self, n: int, *words: Any) -> None:
        self._splits = [Split(*words, state=k) for k in range(n)]
        self.x = self._splits[0].x
        self.errors: list[float] = []    # on each, of the last model

    def error(self, model) -> float:
        self.errors = [split.error(model) for split in self._splits]
        return sum(self.errors) / len(self.errors)


SCALES = choice("none", "standard", "minmax", "robust")


def scaler(name: str):
    from sklearn import preprocessing
    return {"none": "passthrough", "standard": preprocessing.StandardScaler(),
            "minmax": preprocessing.MinMaxScaler(), "robust": preprocessing.RobustScaler()
            }[name]


def taken(point: Point, *names: str) -> dict[str, Any]:
    """Those of the parameters that the point has, under their own names."""
    return {name: point[name] for name in names if name in point}


def weights(point: Point) -> str | None:
    return "balanced" if point["class_weight"] == "balanced" else None


# ---- support vector machines ---------------------------------------------------------

KERNELS = {
    "kernel": choice("linear", "poly", "rbf", "sigmoid"),
    "gamma": real(1e-6, 10, log=True, kernel=("poly", "rbf", "sigmoid")),
    "degree": whole(1, 6, kernel="poly"),
    "coef0": real(-2, 2, kernel=("poly", "sigmoid")),
}


def svc(split: Split | Splits) -> Problem:

    def error(point: Point) -> float:
        from sklearn.decomposition import PCA
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import SVC
        machine = SVC(**taken(point, "kernel", "C", "gamma", "degree", "coef0", "shrinking"),
                      class_weight=weights(point), max_iter=20000)
        inputs = max(1, round(point["share"] * split.x.shape[1]))
        return split.error(make_pipeline(
            scaler(point["scale"]), PCA(inputs, svd_solver="full"), machine))

    return Problem({
        "scale": SCALES, "share": real(0.05, 1), "C": real(1e-3, 1e3, log=True), **KERNELS,
        "shrinking": switch(), "class_weight": choice("none", "balanced")}, error)


def nusvc_wine() -> Problem:
    """nu is infeasible above what the smallest classes allow; that is said by an error."""
    split = Splits(5, "wine", 36, 142)

    def error(point: Point) -> float:
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import NuSVC
        machine = NuSVC(**taken(point, "nu", "kernel", "gamma", "degree", "coef0"),
                        class_weight=weights(point), max_iter=20000,
                        decision_function_shape=point["shape"])
        return split.error(make_pipeline(scaler(point["scale"]), machine))

    return Problem({
        "scale": SCALES, "nu": real(0.001, 1), **KERNELS, "shape": choice("ovo", "ovr"),
        "class_weight": choice("none", "balanced")}, error)


# ---- others --------------------------------------------------------------------------

def logreg_cancer() -> Problem:
    """Most solvers refuse some of the penalties."""
    split = Split("breast_cancer", 200, 369)

    def loss(point: Point) -> float:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        penalty = None if point["penalty"] == "none" else point["penalty"]
        model = LogisticRegression(
            penalty=penalty, class_weight=weights(point), random_state=0,
            **taken(point, "solver", "C", "tol", "max_iter", "l1_ratio", "dual",
                    "fit_intercept", "intercept_scaling"))
        return split.log_loss(make_pipeline(scaler(point["scale"]), model))

    return Problem({
        "scale": SCALES,
        "solver": choice("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
        "penalty": choice("l1", "l2", "elasticnet", "none"),
        "l1_ratio": real(0, 1, penalty="elasticnet"),
        "dual": switch(solver="liblinear"),
        "intercept_scaling": real(0.1, 10, log=True, solver="liblinear"),
        "C": real(1e-4, 1e4, log=True), "tol": real(1e-6, 0.1, log=True),
        "max_iter": whole(5, 200, log=True), "fit_intercept": switch(),
        "class_weight": choice("none", "balanced")}, loss)


def boosting_cancer() -> Problem:
    split = Split("breast_cancer", 250, 319)

    def loss(point: Point) -> float:
        from sklearn.ensemble import GradientBoostingClassifier
        names = ("n_estimators", "learning_rate", "max_depth", "subsample", "max_features",
                 "min_samples_leaf", "loss", "criterion", "n_iter_no_change",
                 "validation_fraction")
        return split.log_loss(GradientBoostingClassifier(random_state=0,
                                                         **taken(point, *names)))

    return Problem({
        "n_estimators": whole(5, 40), "learning_rate": real(0.01, 2, log=True),
        "max_depth": whole(1, 6), "subsample": real(0.2, 1), "max_features": real(0.05, 1),
        "min_samples_leaf": whole(1, 40, log=True),
        "loss": choice("log_loss", "exponential"),
        "criterion": choice("friedman_mse", "squared_error"), "early": switch(),
        "n_iter_no_change": whole(1, 10, early=True),
        "validation_fraction": real(0.05, 0.5, early=True)}, loss)


def knn_digits() -> Problem:
    """Trees know some of the metrics only."""
    split = Split("digits", 400, 400)

    def error(point: Point) -> float:
        from sklearn.decomposition import PCA
        from sklearn.feature_selection import SelectKBest
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        model = KNeighborsClassifier(
            **taken(point, "n_neighbors", "weights", "algorithm", "metric", "p", "leaf_size"))
        reduce: Any = "passthrough"
        if point["reduce"] == "pca":
            reduce = PCA(point["inputs"], whiten=point["whiten"], svd_solver="full")
        elif point["reduce"] == "best":
            reduce = SelectKBest(k=point["inputs"])
        return split.error(make_pipeline(scaler(point["scale"]), reduce, model))

    return Problem({
        "scale": SCALES, "reduce": choice("none", "pca", "best"),
        "inputs": whole(2, 60, reduce=("pca", "best")), "whiten": switch(reduce="pca"),
        "n_neighbors": whole(1, 30), "weights": choice("uniform", "distance"),
        "algorithm": choice("brute", "kd_tree", "ball_tree"),
        "leaf_size": whole(5, 60, algorithm=("kd_tree", "ball_tree")),
        "metric": choice("minkowski", "chebyshev", "cosine", "canberra", "braycurtis",
                         "correlation"),
        "p": real(1, 4, metric="minkowski")}, error)


def mlp_wine() -> Problem:
    """Some settings let the weights run away; the solver says so by an error."""
    split = Split("wine", 80, 98)

    def loss(point: Point) -> float:
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        units = tuple(point[f"units{k}"] for k in range(1, point["layers"] + 1))
        model = MLPClassifier(units, random_state=0, **taken(
            point, "activation", "solver", "alpha", "max_iter", "learning_rate_init",
            "learning_rate", "momentum", "nesterovs_momentum", "beta_1", "batch_size"))
        return split.log_loss(make_pipeline(scaler(point["scale"]), model))

    steps = ("sgd", "adam")
    return Problem({
        "scale": SCALES, "layers": choice(1, 2, 3), "units1": whole(2, 64, log=True),
        "units2": whole(2, 64, log=True, layers=(2, 3)),
        "units3": whole(2, 64, log=True, layers=3),
        "activation": choice("identity", "logistic", "tanh", "relu"),
        "solver": choice("lbfgs", "sgd", "adam"), "alpha": real(1e-6, 10, log=True),
        "max_iter": whole(5, 40), "batch_size": ordinal(8, 16, 32, 64, solver=steps),
        "learning_rate_init": real(1e-4, 1, log=True, solver=steps),
        "learning_rate": choice("constant", "invscaling", "adaptive", solver="sgd"),
        "momentum": real(0, 0.99, solver="sgd"), "nesterovs_momentum": switch(solver="sgd"),
        "beta_1": real(0.5, 0.99, solver="adam")}, loss)


def forest_diabetes() -> Problem:
    """oob_score wants bootstrap."""
    split = Split("diabetes", 200, 242, classes=False)

    def rmse(point: Point) -> float:
        from sklearn import ensemble
        names = ("n_estimators", "criterion", "max_depth", "min_samples_leaf",
                 "max_features", "bootstrap", "max_samples", "oob_score", "ccp_alpha")
        kind = getattr(ensemble, point["model"])
        return split.rmse(kind(random_state=0, **taken(point, *names)))

    return Problem({
        "model": choice("RandomForestRegressor", "ExtraTreesRegressor"),
        "n_estimators": whole(5, 50, log=True),
        "criterion": choice("squared_error", "friedman_mse", "poisson"),
        "max_depth": whole(1, 16), "min_samples_leaf": whole(1, 60, log=True),
        "max_features": real(0.1, 1), "bootstrap": switch(),
        "max_samples": real(0.05, 1, bootstrap=True), "oob_score": switch(),
        "ccp_alpha": real(1e-3, 1e3, log=True)}, rmse)


MAKERS = {
    "svc-digits": lambda: svc(Split("digits", 400, 800)),
    "svc-cancer": lambda: svc(Splits(3, "breast_cancer", 150, 419)),
    "nusvc-wine": nusvc_wine,
    "logreg-cancer": logreg_cancer,
    "boosting-cancer": boosting_cancer,
    "knn-digits": knn_digits,
    "mlp-wine": mlp_wine,
    "forest-diabetes": forest_diabetes,
}
