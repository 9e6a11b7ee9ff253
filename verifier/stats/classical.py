"""The fits a reader would expect, shown beside a ruling and never decisive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from verifier.model.errors import BadInput
from verifier.stats.laws import Floats, law_values

Fit = Mapping[str, float]


def weighted_fit(x: Floats, y: Floats, deviations: Floats) -> Fit:
    """Weighted least squares of y on x with known standard deviations: `{"slope", "stderr", "chi2"}`.

    statsmodels rescales the errors by √(χ²/df), as if the deviations were known only up to a factor; with χ² below df
    that makes them too small. `stderr` is the larger of the rescaled and the fixed-scale one.
    """
    from statsmodels.regression.linear_model import WLS  # noqa: PLC0415  # 2.6 s, and needed only here

    fit = WLS(y, np.column_stack([np.ones_like(x), x]), weights=deviations**-2.0).fit()
    chi2 = float(fit.scale * fit.df_resid)
    rescaled = float(fit.bse[1])
    fixed = rescaled / float(np.sqrt(fit.scale)) if fit.scale > 0 else 0.0
    if fixed == 0.0:
        fixed = float(np.sqrt(fit.normalized_cov_params[1, 1]))
    return {"slope": float(fit.params[1]), "stderr": max(rescaled, fixed), "chi2": chi2}


def hc3_fit(x: Floats, y: Floats) -> Fit:
    """Ordinary least squares of y on x with the HC3 error of MacKinnon and White (1985): `{"slope", "stderr"}`."""
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415  # 2.6 s, and needed only here

    fit = OLS(y, np.column_stack([np.ones_like(x), x])).fit(cov_type="HC3", use_t=True)
    return {"slope": float(fit.params[1]), "stderr": float(fit.bse[1]), "p": float(fit.pvalues[1])}


def classical_fits(scales: Sequence[int], values: Floats, *, law: str = "log") -> dict[str, Fit]:
    """The cell means of the values (m, n) fitted on the law: `{"wls": …, "hc3": …}`. Imports statsmodels (seconds).

    Raises BadInput where there are fewer than three scales or two replicates, or a scale has no variance.
    """
    m, n = values.shape
    if m < 3 or n < 2:
        raise BadInput(f"{m} scales and {n} replicates are too few for a fit", mend="use three and two, or more")
    deviations = values.std(axis=1, ddof=1) / np.sqrt(n)
    if not np.all(deviations > 0):
        raise BadInput("a scale's replicates have no variance, so it has no finite weight", mend="leave that scale out")
    h, means = law_values(scales, law), values.mean(axis=1)
    return {"wls": weighted_fit(h, means, deviations), "hc3": hc3_fit(h, means)}
