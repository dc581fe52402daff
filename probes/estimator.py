"""The preference estimator: standardise, principal components, logistic regression.

Convention: rows are signed shifts h(positive) - h(negative) at one site; label 1 (in general the
second of `classes_`) is the positive condition. Everything is computed in float64.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from probes.folds import grouped_folds
from probes.pretrained import EstimatorConfig, Weights, load_folder, push_folder, save_folder
from probes.projection import fit_projection

TargetForm = Literal["signed", "probability", "logit"]
TARGET_FORMS: tuple[str, ...] = get_args(TargetForm)
C_GRID: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
INNER_FOLDS = 5

Array = NDArray[np.float64]


class PreferenceEstimator(ClassifierMixin, BaseEstimator):
    """Reads a preference from a shift.

    Parameters
    ----------
    n_components
        Principal components, at most; min(n_components, n_rows - 1, n_features) are kept.
    C
        Inverse strength of the L2 penalty of the logistic regression, or "grouped-cv": the value of
        `C_GRID` with the least log loss over inner folds, grouped by the `groups` given to `fit`
        (the smaller of equals). Scaler and components are fitted again in every inner fold.
    random_state
        Seed of the inner folds; nothing else is random.

    Attributes
    ----------
    classes_
        (2,) the labels; the second is the positive one.
    C_
        The C that was used.
    projection_
        The fitted `Projection`: standardisation and principal components.
    coef_, intercept_
        (n_kept,) and scalar, of the logistic regression on the components.
    config_
        What `fit_final` or `from_pretrained` knows of the origin; absent after a plain `fit`.
    """

    n_features_in_: int
    config_: EstimatorConfig

    def __init__(
        self,
        n_components: int = 64,
        C: float | Literal["grouped-cv"] = 1.0,
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None
    ) -> PreferenceEstimator:
        """Fit on shifts (n_rows, n_features) and labels (n_rows,) of two classes.

        Parameters
        ----------
        groups
            (n_rows,) groups kept whole by the inner folds; needed for C="grouped-cv" only.
        """
        given: Any = (X, y)
        X, y = validate_data(self, *given, dtype=np.float64, ensure_min_samples=2)
        X = np.asarray(X)
        self._check_parameters()
        self.classes_, codes = _two_classes(np.asarray(y))
        self.C_ = self._choose_C(X, codes, groups)
        self.projection_ = fit_projection(X, self.n_components)
        self.coef_, self.intercept_ = fit_logistic(self.projection_.apply(X), codes, self.C_)
        return self

    def project(self, X: ArrayLike) -> Array:
        """Scores of the principal components, (n_rows, n_kept)."""
        check_is_fitted(self, "projection_")
        given: Any = X
        rows = validate_data(self, given, dtype=np.float64, reset=False)
        return self.projection_.apply(np.asarray(rows))

    def decision_function(self, X: ArrayLike) -> Array:
        """Log odds (n_rows,) of the positive class."""
        check_is_fitted(self, "coef_")
        return self.project(X) @ self.coef_ + self.intercept_

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities (n_rows, 2) in the order of `classes_`."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The more probable class of each row."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def target(self, X: ArrayLike, form: TargetForm = "signed") -> Array:
        """Continuous preference (n_rows,): with p the probability of the positive class, "signed"
        is 2p - 1, "probability" is p, "logit" is log(p / (1 - p))."""
        log_odds = self.decision_function(X)
        if form == "logit":
            return log_odds
        if form == "probability":
            return expit(log_odds)
        if form == "signed":
            return np.tanh(log_odds / 2)
        raise ValueError(f"target form {form!r} is not one of {', '.join(TARGET_FORMS)}")

    def folded(self) -> tuple[Array, float]:
        """The whole estimator as one vector w (n_features,) and a bias b: logit = X @ w + b."""
        return self._weights().folded()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write config.json, model.safetensors and README.md into `folder`.

        Raises
        ------
        ValueError
            When the estimator comes from a plain `fit` and not from `fit_final`, so that nobody
            could tell what it may be applied to.
        """
        return save_folder(folder, self.config, self._weights())

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path, *, revision: str | None = None, token: str | None = None
    ) -> PreferenceEstimator:
        """Read a local folder or a Hugging Face Hub repository.

        Raises
        ------
        ValueError
            Naming the file that is missing, malformed or inconsistent.
        """
        config, weights = load_folder(name_or_path, revision, token)
        estimator = cls(config.n_components, config.C, config.random_state)
        estimator.projection_, estimator.coef_, estimator.intercept_ = weights
        estimator.C_ = config.fitted_C
        estimator.classes_ = np.array([0, 1])
        estimator.n_features_in_ = config.width
        estimator.config_ = config
        return estimator

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool | None = None,
        token: str | None = None,
        commit_message: str = "Upload preference estimator",
    ) -> str:
        """Upload the folder of `save_pretrained` and return the commit's address."""
        return push_folder(
            repo_id,
            self.config,
            self._weights(),
            private=private,
            token=token,
            commit_message=commit_message,
        )

    def _weights(self) -> Weights:
        check_is_fitted(self, "coef_")
        return Weights(self.projection_, self.coef_, self.intercept_)

    @property
    def config(self) -> EstimatorConfig:
        """What the estimator was fitted on; `ValueError` after a plain `fit`."""
        if not hasattr(self, "config_"):
            raise ValueError(
                "this estimator does not know its site, sign and model, so it can be neither saved"
                " nor applied to a store; fit it with probes.fit_final"
            )
        return self.config_

    def _check_parameters(self) -> None:
        if self.n_components < 1:
            raise ValueError(f"n_components is {self.n_components}, expected at least 1")
        if isinstance(self.C, str) and self.C != "grouped-cv":
            raise ValueError(f"C is {self.C!r}, expected a number above 0 or 'grouped-cv'")
        if not isinstance(self.C, str) and not self.C > 0:
            raise ValueError(f"C is {self.C}, expected a number above 0 or 'grouped-cv'")

    def _choose_C(self, X: Array, codes: NDArray[np.intp], groups: ArrayLike | None) -> float:
        if not isinstance(self.C, str):
            return float(self.C)
        if groups is None:
            raise ValueError("C='grouped-cv' needs the groups: fit(X, y, groups=...)")
        groups = np.asarray(groups)
        n_folds = min(INNER_FOLDS, *(len(np.unique(groups[codes == c])) for c in (0, 1)))
        folds = grouped_folds(codes, groups, n_folds, self.random_state)
        losses = np.zeros(len(C_GRID))
        for fold in range(n_folds):
            train, test = folds != fold, folds == fold
            projection = fit_projection(X[train], self.n_components)
            components, held_out = projection.apply(X[train]), projection.apply(X[test])
            for i, C in enumerate(C_GRID):
                coef, intercept = fit_logistic(components, codes[train], C)
                chance = expit(held_out @ coef + intercept)
                losses[i] += log_loss(codes[test], chance, normalize=False, labels=[0, 1])
        return C_GRID[int(np.argmin(losses))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def fit_logistic(X: Array, y: NDArray[Any], C: float) -> tuple[Array, float]:
    """Weights (n_features,) and intercept of an L2-penalised logistic regression on 0/1 labels.

    Newton steps reach the optimum to rounding in a few iterations, so the result does not depend on
    where an iterative solver stopped.
    """
    if not X.any():  # no feature varies: the optimum is the log odds, where Newton cannot improve
        return np.zeros(X.shape[1]), float(logit(y.mean()))
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-6, max_iter=1000).fit(X, y)
    return model.coef_[0], float(model.intercept_[0])


def _two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"one class only ({classes[0]!r}) among {len(y)} rows: two are needed")
    return classes, codes
