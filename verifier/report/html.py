"""One self-contained HTML page per run, from the result alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from platform import python_version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from verifier.exact.margin_document import margin_series
from verifier.model.canonical import sha256_hex
from verifier.model.results import CaseResult, ExactEvidence, ProbeResult
from verifier.model.rulings import Ruling, ruling_words
from verifier.report import sentences
from verifier.report.audit import audit_line, audit_rows, audits, comparison_lines, finding_line
from verifier.report.audit_figures import audit_pictures
from verifier.report.bound import bound_design_line, bound_explained, bound_size_line, bound_table, is_bound
from verifier.report.changes import would_change
from verifier.report.exact import (
    answer_line,
    exact_evidence,
    exact_lines,
    float_lines,
    hypothesis_rows,
    problem_rows,
)
from verifier.report.figure import figure_data, sweep_svg
from verifier.report.files import write_whole
from verifier.report.growth import (
    Explained,
    design_line,
    evidence_line,
    explained,
    growth,
    sigma_line,
    size_line,
    slope_line,
)
from verifier.report.growth_figures import evidence_svg, has_interval, interval_svg, look_path
from verifier.report.margin import margin_figure
from verifier.report.margin_figures import margin_evidence_svg, margin_look_path
from verifier.report.numbers import number_table
from verifier.report.replication import (
    is_replication,
    look_rows,
    margin_design_line,
    margin_explained,
    margin_lines,
    margin_size_line,
)
from verifier.report.text import capitalised, plain, plain_lines, quoted

LOOKED = (
    "Each line is the capital of somebody who bets against a hypothesis, starting with 1: if the hypothesis is true, "
    "it ever reaches a threshold T with probability at most 1/T, however often one looks."
)
NARROWED = (
    "The slopes that the data leave open at each look, whatever bounded part of the residual class is mixed in: from "
    "the cone slope's lower end to the whole-range slope's upper end."
)
PACKAGES = ("dispute-verifier", "numpy", "scipy", "matplotlib", "numba")
CHECKER = "checker.py"
_DOI = re.compile(r"10\.\d{4,9}/[A-Za-z0-9._;()/:-]{1,200}")
_ID = re.compile(r"[A-Za-z0-9_.-]{1,40}|[a-z-]+(\.[A-Z]{2})?/\d{7}v\d{1,3}")


def write_report(result: CaseResult, path: str | PathLike[str]) -> None:
    """Writes the page to `path`, complete or not at all: a temporary file beside it takes its name at the end.

    Makes missing folders. Raises InfrastructureFailed where the file cannot be written.
    """
    write_whole({Path(path): render_report(result).encode()}, what="the report")


def write_certificates(result: CaseResult, report: str | PathLike[str]) -> dict[str, str]:
    """Writes the certificate of every exact probe that has one, and the checker, beside the report; probe -> path.

    Raises InfrastructureFailed where a file cannot be written.
    """
    written = {}
    for probe in result.probes:
        found = exact_evidence(probe)
        if found is not None and found.certificate is not None:
            path = Path(report).with_name(certificate_name(result, probe))
            files = {path: found.certificate.encode(), path.with_name(CHECKER): checker_text()}
            write_whole(files, what="the certificate")
            written[probe.name] = str(path)
    return written


@cache
def checker_text() -> bytes:
    """The checker's one file."""
    return (resources.files("verifier.exact") / CHECKER).read_bytes()


def certificate_name(result: CaseResult, probe: ProbeResult) -> str:
    """The file name of a probe's certificate."""
    return f"{result.case}-{result.registration[:12]}.{probe.name}.certificate.json"


def render_report(result: CaseResult, *, versions: Mapping[str, str] | None = None) -> str:
    """The page as text; equal results and versions give equal pages. `versions` defaults to what is installed."""
    template = _environment().get_template("report.html.j2")
    return template.render(
        result=result,
        banner=sentences.banner_lines(result),
        headline=sentences.ruling_headline(result),
        read_paraphrase=sentences.paraphrase_words(result),
        reading=sentences.reading_line(result),
        background=[
            *(sentences.implementation_line(one) for one in result.implementations),
            *(sentences.prior_line(prior) for prior in result.priors),
        ],
        gate=sentences.gate_line(result),
        settings=sentences.settings_line(result),
        repeat=sentences.repeat_line(result),
        gate_closed=bool(sentences.gate_reasons(result)),
        registration=sentences.registration_line(result),
        witness=sentences.witness_line(result),
        overrides=sentences.overrides_words(result.overrides),
        dispute=sentences.dispute_line(result),
        compared=comparison_lines(result.probes),
        links=paper_links(result),
        later_versions=sentences.later_version_lines(result),
        checked=sentences.CHECKED,
        key_lines=_key_lines(result),
        probes=[_probe(result, probe) for probe in result.probes],
        changes=would_change(result),
        verdict=sentences.verdict_line(result),
        versions=installed_versions() if versions is None else versions,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verifier.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        plain=plain, plain_lines=plain_lines, quoted=quoted, ruling_words=ruling_words, capitalised=capitalised
    )
    return environment


def _key_lines(result: CaseResult) -> list[str]:
    """The summaries and numbers that stand under the headline."""
    lines = sentences.part_lines(result)
    for probe in sentences.deciding_probes(result):
        found = None if result.ruling.ruling is Ruling.INVALID else growth(probe)
        said = probe.outcome.decided and (found is not None or is_replication(probe))  # by the numbers below
        lines += [plain(probe.summary)] if probe.summary and not said else []
        if found is not None:
            lead = sentences.so_far_words(result)
            lines += [lead + line for line in (slope_line(found), sigma_line(found), evidence_line(found)) if line]
        if is_replication(probe) and result.ruling.ruling is not Ruling.INVALID:
            named = len(result.probes) > 1
            lines += [sentences.so_far_words(result) + line for line in margin_lines(probe, named=named)]
        exact = exact_evidence(probe)
        lines += exact_lines(exact) if exact is not None else []
        lines += [sentences.shortfall_line(result, probe)]
    return [line for line in dict.fromkeys(lines) if line]


def _exact(result: CaseResult, probe: ProbeResult) -> dict[str, Any] | None:
    found = exact_evidence(probe)
    if found is None:
        return None
    return {
        "answer": answer_line(found),
        "problem": problem_rows(found),
        "shaded": bool(found.margins and found.margins["threshold"] is not None),
        "checker_sha256": sha256_hex(checker_text()),
        "lines": exact_lines(found),
        "hypotheses": hypothesis_rows(found),
        "svg": Markup(_margin_svg(found)) if found.margins else None,  # noqa: S704  # matplotlib escapes its texts
        "floats": float_lines(found),
        "file": certificate_name(result, probe) if found.certificate else None,
        "certificate": found.certificate,
        "checked": found.checked,
    }


def _audit(audit: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "finding": finding_line(audit),
        "sentence": plain(audit["sentence"]),
        "rows": audit_rows(audit),
        "pictures": _drawn(audit_pictures(audit)),
    }


def _control_pictures(probe: ProbeResult) -> list[dict[str, Any]]:
    """What the audits of a probe's controls have to draw, each with the control's name."""
    return [
        picture
        for run in probe.controls
        for audit in run.audits
        for picture in _drawn(
            [(svg, f"Control {sentences.control_name(run)}. {caption}") for svg, caption in audit_pictures(audit)]
        )
    ]


def _drawn(pictures: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"svg": Markup(svg), "caption": caption}  # noqa: S704  # matplotlib escapes its texts
        for svg, caption in pictures
    ]


def _margin_svg(found: ExactEvidence) -> str:
    return margin_figure(margin_series(dict(found.margins or {}))).svg


def _probe(result: CaseResult, probe: ProbeResult) -> dict[str, Any]:
    points = probe.latest.points if probe.evidence else ()
    drawn = bool(points) and not is_bound(probe)
    design, size = design_line(probe), size_line(probe)
    if is_replication(probe):
        design, size = margin_design_line(probe), margin_size_line(probe)
    elif is_bound(probe):
        design, size = bound_design_line(probe), bound_size_line(probe)
    return {
        "result": probe,
        "exact": _exact(result, probe),
        "audits": [_audit(audit) for audit in audits(probe)],
        "audited": audit_line(probe),
        "svg": Markup(sweep_svg(probe)) if drawn else None,  # noqa: S704  # matplotlib escapes every text it writes
        "data": Markup(_script_json(figure_data(probe))) if drawn else None,  # noqa: S704  # < is written \u003c
        "pictures": [*_look_pictures(probe), *_control_pictures(probe)],
        "table": bound_table(probe) if is_bound(probe) else number_table(points, probe.axis),
        "design": design,
        "size": size,
        "explained": _explained(probe),
        "looks": look_rows(probe),
        "adequacy": sentences.adequacy_line(probe),
        "controls": [
            {
                "target": sentences.control_name(run),
                "why": plain(run.control.why),
                "expected": sentences.expected(run),
                "obtained": sentences.obtained(run),
                "passed": run.result.passed,
                # what a check found is said by `obtained` already
                "summary": plain(run.result.summary) if run.control.expect.kind == "named" else "",
            }
            for run in probe.controls
        ],
        "failures": [text for text in (probe.failure, *(run.traceback for run in probe.controls)) if text],
    }


def _explained(probe: ProbeResult) -> list[Explained]:
    if is_replication(probe):
        return margin_explained(probe)
    return bound_explained(probe) if is_bound(probe) else explained(probe)


def _look_pictures(probe: ProbeResult) -> list[dict[str, Any]]:
    """What a rule had seen at each look, where the result says so: pictures with their captions."""
    found = []
    if margin_look_path(probe):
        found.append((margin_evidence_svg(probe), LOOKED))
    if look_path(probe):
        found.append((evidence_svg(probe), LOOKED))
    if has_interval(probe):
        found.append((interval_svg(probe), NARROWED))
    return [
        {"svg": Markup(svg), "caption": caption}  # noqa: S704  # matplotlib escapes its texts
        for svg, caption in found
    ]


def _script_json(value: Any) -> str:
    """JSON that can stand in a script element: no `<`, so nothing in it can close the element."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e")


def paper_links(result: CaseResult) -> list[tuple[str, str]]:
    """(words, address) of the paper, for identifiers that are nothing else."""
    paper, links = result.paper, []
    if paper.openreview and _ID.fullmatch(paper.openreview):
        links.append((f"OpenReview {paper.openreview}", f"https://openreview.net/forum?id={paper.openreview}"))
    if paper.arxiv and _ID.fullmatch(paper.arxiv):
        links.append((f"arXiv {paper.arxiv}", f"https://arxiv.org/abs/{paper.arxiv}"))
    if paper.doi and _DOI.fullmatch(paper.doi):
        links.append((f"DOI {paper.doi}", f"https://doi.org/{paper.doi}"))
    return links


def installed_versions() -> dict[str, str]:
    """Python and the packages that made the numbers and the page."""
    found = {"python": python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
