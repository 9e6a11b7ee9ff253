"""What several teams show together: one e-value from theirs, and the table that turns their votes into an answer.

A team is the unit: five seeds of one team share its reading of the paper, its code and its machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.eprocess import log_mean_exp
from verifier.stats.laws import Floats
from verifier.stats.rule_answer import RuleAnswer

LEAST_TEAMS = 2  # what "confirmed by a third party" asks for
THRESHOLD = 1e4
MOST_TEAMS = 1_000

Method: TypeAlias = Literal["product", "average", "partial-conjunction"]

ASSUMES: Mapping[Method, str] = MappingProxyType(
    {
        "product": "the teams' data are independent",
        "average": "nothing about how the teams' data depend on each other",
        "partial-conjunction": "nothing about how the teams' data depend on each other, and that fewer than u err",
    }
)
"""Method → what it takes on trust."""


def log_product_e(log_e: Floats) -> Floats:
    """Natural logarithm of the product of e-values of independent data; log_e: (…, teams) → (…).

    An e-value against "no team has the effect" if the teams' data are independent, and not otherwise: five teams with
    seeds in common (correlation .8) reach 20 by chance tens of times more often. −∞ wins over +∞: a team that
    excludes the effect is not outvoted by an overflow.
    Source: Vovk and Wang (2021), E-values: calibration, combination and applications, Section 4.
    """
    logs = _checked(log_e)
    with np.errstate(invalid="ignore"):
        total = logs.sum(axis=-1)
    return np.where(np.isneginf(logs).any(axis=-1), -np.inf, total)


def log_average_e(log_e: Floats) -> Floats:
    """Natural logarithm of the mean of e-values, whatever their dependence; log_e: (…, teams) → (…).

    Against "no team has the effect". No symmetric merging function that is valid under every dependence is
    essentially better. Source: Vovk and Wang (2021), Theorem 3.2.
    """
    logs = _checked(log_e)
    return np.where(np.isposinf(logs).any(axis=-1), np.inf, log_mean_exp(logs, axis=-1))


def log_partial_conjunction_e(log_e: Floats, *, u: int = LEAST_TEAMS) -> Floats:
    """Natural logarithm of the e-value against "fewer than u teams have the effect"; log_e: (…, teams) → (…).

    Under that hypothesis some N − u + 1 of the N teams have none, and the mean of those teams' e-values is one
    e-value; the smallest such mean is that of the N − u + 1 smallest. Valid under every dependence, and u − 1 teams
    that err, however badly, do not make it so. With u = 1 it is `log_average_e`.
    Sources: Benjamini and Heller (2008), Screening for partial conjunction hypotheses; Vovk and Wang (2021), Thm 3.2.

    Raises BadInput for u below 1 or above the number of teams.
    """
    logs = _checked(log_e)
    teams = logs.shape[-1]
    if not 1 <= u <= teams:
        raise BadInput(
            f"{u} teams with the effect are asked for, and there are {teams}",
            mend="ask for at least 1 and at most as many as there are",
        )
    return log_average_e(np.sort(logs, axis=-1)[..., : teams - u + 1])


def log_combined_e(log_e: Floats, *, method: Method, u: int = LEAST_TEAMS) -> Floats:
    """Natural logarithm of the teams' e-values combined by the registered method; log_e: (…, teams) → (…)."""
    match method:
        case "product":
            return log_product_e(log_e)
        case "average":
            return log_average_e(log_e)
        case "partial-conjunction":
            return log_partial_conjunction_e(log_e, u=u)
        case _:
            raise BadInput(f"there is no method {shown(method)}", mend=f"use {listed(list(ASSUMES), last='or')}")


class TeamAnswer(RuleAnswer):
    """What teams say together: each member is its word and carries its sentence, its outcome and its reason."""

    TOO_FEW_TEAMS = (
        "TOO_FEW_TEAMS",
        "fewer teams with data of their own than a confirmation needs",
        Outcome.UNDERPOWERED,
        Reason.UNDERPOWERED,
    )
    HETEROGENEOUS = (
        "HETEROGENEOUS",
        "teams whose designs could decide found opposite things",
        Outcome.UNDECIDED,
        Reason.HETEROGENEOUS,
    )
    BETWEEN = (
        "BETWEEN",
        "the teams together have evidence against both sides: what they measure lies between claimed and alleged",
        Outcome.UNDECIDED,
        Reason.BETWEEN,
    )
    CONFIRMED_FOR = (
        "CONFIRMED_FOR",
        "the teams together show that the disputed statement does not hold",
        Outcome.FOR_DISPUTE,
        None,
    )
    CONFIRMED_AGAINST = (
        "CONFIRMED_AGAINST",
        "the teams together show that what the dispute asserts does not hold",
        Outcome.AGAINST_DISPUTE,
        None,
    )
    NOT_DECIDED_BY_TEAMS = (
        "NOT_DECIDED_BY_TEAMS",
        "the combined evidence against one side is there, but too few teams decide by themselves",
        Outcome.UNDECIDED,
        Reason.BETWEEN,
    )
    NOT_CONFIRMED = (
        "NOT_CONFIRMED",
        "enough teams could have decided, and together they reach neither threshold",
        Outcome.UNDECIDED,
        Reason.NOT_DECIDED,
    )
    NOT_CONFIRMED_INADEQUATE = (
        "NOT_CONFIRMED_INADEQUATE",
        "too few of the teams could be expected to decide, by their design or by what they ran",
        Outcome.UNDERPOWERED,
        Reason.UNDERPOWERED,
    )


def decide(
    *,
    too_few_teams: bool,
    opposite_votes: bool,
    reaches_for: bool,
    reaches_against: bool,
    enough_for: bool,
    enough_against: bool,
    adequate: bool,
) -> TeamAnswer:
    """The table: the first row that applies.

    opposite_votes: some vote for and some against, after votes of inadequate designs were dropped. reaches_for,
    reaches_against: the combined E of that side reaches T. enough_for, enough_against: as many teams as the method
    asks for decide so by themselves. adequate: at least u teams had an adequate design.
    """
    if too_few_teams:
        return TeamAnswer.TOO_FEW_TEAMS
    if opposite_votes:
        return TeamAnswer.HETEROGENEOUS
    if reaches_for and reaches_against:
        return TeamAnswer.BETWEEN
    if reaches_for and enough_for:
        return TeamAnswer.CONFIRMED_FOR
    if reaches_against and enough_against:
        return TeamAnswer.CONFIRMED_AGAINST
    if reaches_for or reaches_against:
        return TeamAnswer.NOT_DECIDED_BY_TEAMS
    if adequate:
        return TeamAnswer.NOT_CONFIRMED
    return TeamAnswer.NOT_CONFIRMED_INADEQUATE


@dataclass(frozen=True, kw_only=True)
class Team:
    """One team's result, its duplicates removed before.

    outcome: of its own rule. adequate: whether its registered maximum could be expected to decide. log_e_for,
    log_e_against: natural logarithms of its two e-values at its own stop, after the discount. able: False where its
    own rule could not be applied: too few runs, scales or too short a horizon, or malformed data. Such a team is no
    adequate one and its e-values are 0, so that no team decides by way of the others what it must not decide alone.
    """

    name: str
    outcome: Outcome
    adequate: bool
    log_e_for: float
    log_e_against: float
    able: bool = True


@dataclass(frozen=True, kw_only=True)
class TeamFinding:
    """What the teams say together.

    log_e_for, log_e_against: of the combination, None where there are too few teams. votes_for, votes_against: names,
    votes dropped for an inadequate design left out; dropped: their names. unable: teams whose E counted as 0. assumes:
    what the method takes on trust.
    """

    answer: TeamAnswer
    outcome: Outcome
    reason: Reason | None
    summary: str
    method: Method
    u: int
    assumes: str
    teams: int
    log_e_for: float | None
    log_e_against: float | None
    votes_for: tuple[str, ...]
    votes_against: tuple[str, ...]
    dropped: tuple[str, ...]
    unable: tuple[str, ...]


def evaluate(
    teams: Sequence[Team],
    *,
    method: Method = "partial-conjunction",
    u: int = LEAST_TEAMS,
    threshold: float = THRESHOLD,
) -> TeamFinding:
    """The teams' common answer, by the registered method and the same threshold both ways.

    Where votes are opposite, those of inadequate designs are dropped first. Only the vote goes: that team's e-values
    stay in the combination, for leaving data out after seeing them would make it no e-value. `u` is how many teams
    must have the effect under "partial-conjunction"; under every method fewer than `u` teams confirm nothing. A side is
    confirmed only where teams decide so by themselves too: `u` under "partial-conjunction", one under the others.

    Raises BadInput for a name that stands twice, a u below 1, an E that is NaN.
    """
    names = [team.name for team in teams]
    twice = sorted({name for name in names if names.count(name) > 1})
    if len(teams) > MOST_TEAMS:
        raise BadInput(f"there are more than {MOST_TEAMS} teams", mend="combine them in groups")
    if twice:
        raise BadInput(f"the team {shown(twice[0])} stands twice", mend="give each team once, under one name")
    if u < 1:
        raise BadInput(f"{u} teams are asked for", mend="ask for two or more; one team confirms only itself")
    unable = tuple(team.name for team in teams if not team.able)
    neither = tuple(team.name for team in teams if team.able and not team.outcome.decided)
    teams = [t if t.able else replace(t, adequate=False, log_e_for=-math.inf, log_e_against=-math.inf) for t in teams]
    voted = [team for team in teams if team.able and team.outcome.decided]
    opposite = len({team.outcome for team in voted}) > 1
    dropped = [team for team in voted if opposite and not team.adequate]
    kept = [team for team in voted if team not in dropped]
    camps = {side: tuple(t.name for t in kept if t.outcome is side) for side in Outcome if side.decided}
    few = len(teams) < u
    deciders = u if method == "partial-conjunction" else 1
    logs = np.array([[t.log_e_for, t.log_e_against] for t in teams], float).reshape(-1, 2).T
    combined = None if few else log_combined_e(logs, method=method, u=u)
    answer = decide(
        too_few_teams=few,
        opposite_votes=all(camps.values()),
        reaches_for=combined is not None and bool(combined[0] >= math.log(threshold)),
        reaches_against=combined is not None and bool(combined[1] >= math.log(threshold)),
        enough_for=len(camps[Outcome.FOR_DISPUTE]) >= deciders,
        enough_against=len(camps[Outcome.AGAINST_DISPUTE]) >= deciders,
        adequate=sum(team.adequate for team in teams) >= u,
    )
    return TeamFinding(
        answer=answer,
        outcome=answer.outcome,
        reason=answer.reason,
        summary=_summary(
            answer, camps, dropped=[t.name for t in dropped], unable=unable, neither=neither, teams=len(teams), u=u
        ),
        method=method,
        u=u,
        assumes=ASSUMES[method],
        teams=len(teams),
        log_e_for=None if combined is None else float(combined[0]),
        log_e_against=None if combined is None else float(combined[1]),
        votes_for=camps[Outcome.FOR_DISPUTE],
        votes_against=camps[Outcome.AGAINST_DISPUTE],
        dropped=tuple(t.name for t in dropped),
        unable=unable,
    )


def _summary(
    answer: TeamAnswer,
    camps: Mapping[Outcome, tuple[str, ...]],
    *,
    dropped: Sequence[str],
    unable: Sequence[str],
    neither: Sequence[str],
    teams: int,
    u: int,
) -> str:
    said = f"{answer.sentence} ({teams} of the {u} teams needed)" if teams < u else answer.sentence
    votes = [
        f"{who} {word}"
        for who, word in (
            (listed(camps[Outcome.FOR_DISPUTE]), "for the dispute"),
            (listed(camps[Outcome.AGAINST_DISPUTE]), "against it"),
        )
        if who
    ]
    parts = [said, ", ".join(votes)]
    if neither:
        parts.append(f"decided neither way: {listed(list(neither))}")
    if dropped:
        parts.append(f"no vote, as the design could not be expected to decide: {listed(list(dropped))}")
    if unable:
        parts.append(f"E counted as 0, as too little was run or the data cannot be judged: {listed(list(unable))}")
    return "; ".join(filter(None, parts))


def _checked(log_e: Floats) -> Floats:
    logs = np.asarray(log_e, float)
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise BadInput("there is no team to combine", mend="give one e-value a team")
    if np.isnan(logs).any():
        raise BadInput("a team's e-value is not a number", mend="leave out a team without an answer, and say so")
    return logs
