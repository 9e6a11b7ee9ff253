"""Several teams in one table: duplicates removed, each judged alone, then what they say together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from verifier.cli.stats_answers import Finding, Tested
from verifier.model.complaints import listed, shown
from verifier.model.outcomes import Outcome, Reason
from verifier.report.text import plain
from verifier.stats import teams
from verifier.stats.growth_statistics import GrowthFinding
from verifier.stats.heterogeneity import Heterogeneity, Separation, heterogeneity, separating_covariates
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.run_table import RunTable
from verifier.stats.team_duplicates import Duplicate, without_duplicates
from verifier.stats.teams import Method, Team, TeamFinding

MOST_NAMED = 12
"""Teams without a vote that a sentence names."""


@dataclass(frozen=True, kw_only=True)
class TeamsTested:
    """What every team shows alone and all of them together.

    names, tested: in alphabetical order. duplicates: teams that were dropped before anybody was counted. spread: how
    far estimates differ, None where it was not asked for or fewer than two teams have an estimate with its error.
    separations: the covariates that separate the teams for the dispute from those against it best; None where none was
    declared or the votes do not differ.
    """

    names: tuple[str, ...]
    tested: tuple[Tested, ...]
    together: TeamFinding
    duplicates: tuple[Duplicate, ...]
    spread: Heterogeneity | None
    separations: tuple[Separation, ...] | None = None


def has_teams(table: RunTable) -> bool:
    """Whether the table holds rows of more than one team."""
    return len(np.unique(table.team)) > 1


def run_teams(
    table: RunTable,
    run: Callable[[RunTable], Tested],
    *,
    method: Method,
    u: int,
    threshold: float,
    spread: bool,
    covariates: Mapping[str, Mapping[str, str | float]] = MappingProxyType({}),
) -> TeamsTested:
    """Every team by `run`, and their combination by the method.

    spread: whether a random-effects summary is asked for. covariates: name → team → its value, for every team.
    """
    kept, dropped = without_duplicates(table)
    names = tuple(kept.teams[i] for i in np.unique(kept.team))
    tested = tuple(run(kept.view(team=name)) for name in names)
    together = teams.evaluate(
        [_team(name, one) for name, one in zip(names, tested, strict=True)], method=method, u=u, threshold=threshold
    )
    return TeamsTested(
        names=names,
        tested=tested,
        together=together,
        duplicates=dropped,
        spread=_spread(tested) if spread else None,
        separations=_separations(together, covariates),
    )


def estimate_of(tested: Tested) -> tuple[float, float] | None:
    """The estimate and its standard error at the stop; the full slope for growth. None where there is none."""
    statistics = tested.finding.statistics
    found = statistics.slope_full if isinstance(tested.finding, GrowthFinding) else statistics.effect  # type: ignore[union-attr]  # a margin finding's
    if found is None or found.stderr is None or not found.stderr > 0 or not np.isfinite(found.stderr):
        return None
    return found.estimate, found.stderr


def interval_of(tested: Tested) -> tuple[float, float] | None:
    """The 95 % interval of that estimate at any stopping time."""
    statistics = tested.finding.statistics
    found = statistics.slope_full if isinstance(tested.finding, GrowthFinding) else statistics.effect  # type: ignore[union-attr]  # a margin finding's
    return None if found is None else found.interval


def _team(name: str, tested: Tested) -> Team:
    support, opposition = tested.log_e
    return Team(
        name=name,
        outcome=tested.finding.outcome,
        adequate=tested.finding.adequacy.adequate,
        log_e_for=support,
        log_e_against=opposition,
        able=_able(tested.finding),
    )


def _able(finding: Finding) -> bool:
    """Whether the rule could be applied: enough runs and scales, a horizon that reaches, data that can be judged."""
    if finding.outcome is Outcome.INVALID or finding.reason is Reason.HORIZON:
        return False
    return finding.answer is not MarginAnswer.TOO_FEW


def _spread(tested: Sequence[Tested]) -> Heterogeneity | None:
    found = [pair for one in tested if (pair := estimate_of(one)) is not None]
    if len(found) < 2:
        return None
    return heterogeneity([pair[0] for pair in found], [pair[1] for pair in found])


def _separations(
    together: TeamFinding, covariates: Mapping[str, Mapping[str, str | float]]
) -> tuple[Separation, ...] | None:
    """What separates the votes that count: those of inadequate designs are dropped before anybody is compared."""
    camps = dict.fromkeys(together.votes_for, True) | dict.fromkeys(together.votes_against, False)
    if not covariates or len(set(camps.values())) < 2:
        return None
    known = {name: {team: values[team] for team in camps} for name, values in covariates.items()}
    return separating_covariates(camps, known, words=("for the dispute", "against it"))


def separation_lines(found: TeamsTested, declared: Sequence[str]) -> list[str]:
    """What a person reads of the declared covariates; nothing where none was declared."""
    if not declared:
        return []
    names = listed([shown(name) for name in declared])
    if found.separations is None:
        return [f"covariates: no two camps of teams to be told apart by {names}"]
    if not found.separations:
        return [f"covariates: the camps are not separated by {names}"]
    silent = [
        plain(name) for name in found.names if name not in (*found.together.votes_for, *found.together.votes_against)
    ]
    rest = f" ({listed(silent[:MOST_NAMED])}{', …' if len(silent) > MOST_NAMED else ''} " if silent else ""
    rest += ("have no vote)" if len(silent) > 1 else "has no vote)") if silent else ""
    lines = []
    for one in found.separations:
        wrong = listed([shown(team) for team in one.misplaced])
        voters = f"{one.teams} of {len(found.names)} teams{rest}" if silent else f"{one.teams} teams"
        less = f"all but {wrong} of {voters}" if one.misplaced else voters if silent else f"all {voters}"
        p = "too many arrangements to count" if one.p is None else f"{one.p:.2g} of all arrangements do as well"
        lines.append(f"covariate {shown(one.covariate)} separates {less}: {one.rule} ({p}; {one.caveat})")
    return lines


def team_document(
    found: TeamsTested, document: Callable[[Any], Any], *, noisiest: int | None
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The fields of `teams` in JSON, teams by number, and the strangers' words that belong to them.

    noisiest: whose noise the plan under `next` takes, an index of teams; None where there is no such plan.
    """
    number = {name: i for i, name in enumerate((*found.names, *(d.team for d in found.duplicates)), 1)}
    together = document(found.together)
    for key in ("votes_for", "votes_against", "dropped", "unable"):
        together[key] = [number[name] for name in together[key]]
    together["sentence"] = found.together.answer.sentence
    said = together.pop("summary")
    members = [
        {
            "team": i,
            "answer": str(one.finding.answer),
            "outcome": str(one.finding.outcome),
            "reason": document(one.finding.reason),
            "n": one.used,
            "stop": one.stop,
            "estimate": document(estimate_of(one)),
            "interval": document(interval_of(one)),
            "log_e_for": document(one.log_e[0]),
            "log_e_against": document(one.log_e[1]),
            "adequacy": document(one.finding.adequacy),
        }
        for i, one in enumerate(found.tested, 1)
    ]
    duplicates = [
        {"team": number[d.team], "of": number[d.of], "common": d.common, "equal": d.equal, "distinct": d.distinct}
        for d in found.duplicates
    ]
    fields = {
        "members": members,
        "together": together,
        "duplicates": duplicates,
        "noisiest": None if noisiest is None else noisiest + 1,
        "heterogeneity": document(found.spread),
        "covariates": None
        if found.separations is None
        else [
            {"misplaced": [number[team] for team in one.misplaced], "teams": one.teams, "p": one.p}
            for one in found.separations
        ],
    }
    quoted = {"teams": list(number), "summary": said, "duplicates": [d.sentence for d in found.duplicates]}
    if found.separations:
        quoted["covariates"] = [{"covariate": one.covariate, "rule": one.rule} for one in found.separations]
    return fields, quoted
