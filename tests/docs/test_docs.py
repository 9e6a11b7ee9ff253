"""The documents are tests: their commands run as typed, their tables are the code's, their links lead somewhere."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from verifier.audits import probe as audit_probe
from verifier.audits import schema as audit_schema
from verifier.casefile import load, schema
from verifier.cli.main import COMMANDS, main
from verifier.cli.main import verifier as root_command
from verifier.exact import parse_problem
from verifier.exact import probe as exact_probe
from verifier.exact.systems import systems
from verifier.model.probes import ProbeTable
from verifier.stats.contrasts import contrasts
from verifier.stats.growth_rule import HALF_BAR, LEAST_SCALES, GrowthAnswer, decide
from verifier.stats.rules import RULES, GrowthTable
from verifier.stats.run_csv import parse_runs
from verifier.stats.significance import anytime_sigma, p_to_e
from verifier.sweeps import probe, replication
from verifier.sweeps.bound import BoundSweepTable

ROOT = Path(__file__).parents[2]
README, CASE_PAGE = ROOT / "README.md", ROOT / "docs/writing-a-case.md"
PROBLEM_PAGE = ROOT / "docs/writing-a-problem.md"
AUDIT_PAGE = ROOT / "docs/audits.md"
RULE_PAGE, EXACT_PAGE = ROOT / "docs/growth-rule.md", ROOT / "docs/exact-counterexamples.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGE_NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str


class Step(NamedTuple):
    """The commands of one console block, and the text block after it, if that comes next."""

    commands: list[str]
    shown: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)]


def steps(page: Path) -> Iterator[Step]:
    found = blocks(page)
    for block, after in itertools.zip_longest(found, found[1:], fillvalue=Block("", "")):
        if block.language == "console":
            commands = [line.removeprefix("$ ") for line in block.text.splitlines()]
            yield Step(commands, after.text if after.language == "text" else "")


def all_commands() -> list[str]:
    return [command for page in PAGES for step in steps(page) for command in step.commands]


@dataclass(frozen=True)
class Desk:
    """A folder with copies of cases, problems and the files of pages, and a home of its own: a reader types there."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a command finds in its environment, but for SOURCE_DATE_EPOCH, which is not set."""
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(self.folder / "home/.cache")),
            "XDG_STATE_HOME": str(self.folder / "home/.state"),
        }

    def type(self, command: str) -> str:
        """What `command` prints on stdout; it must end with 0."""
        done = subprocess.run(
            shlex.split(command),
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=1_200,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
        return done.stdout

    def follow(self, page: Path) -> None:
        """Types every verifier command of the page in order, and compares what the page shows."""
        for step in steps(page):
            said = "".join(self.type(command) for command in step.commands if command.startswith("verifier "))
            if said:
                assert shows(said, step.shown), f"{step.commands} printed\n{said}\nand not\n{step.shown}"


@dataclass(frozen=True)
class OpenDesk(Desk):
    """The same, but that commands run in this process: what they import is paid for once."""

    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def type(self, command: str) -> str:
        """What `command`, of this program, prints on stdout; it must end with 0."""
        self.capture.readouterr()
        with self.patch.context() as patch:
            patch.chdir(self.folder)
            patch.delenv("SOURCE_DATE_EPOCH", raising=False)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", shlex.split(command))
            patch.setattr(sys, "stdin", io.StringIO())
            assert sys.argv[0] == "verifier"
            with pytest.raises(SystemExit) as stop:
                main()
        out, err = self.capture.readouterr()
        assert stop.value.code == 0, f"{command}: {err or out}"
        return out


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Desk:
    """A reader at a desk of their own, in this process."""
    desk(tmp_path)
    return OpenDesk(tmp_path, monkeypatch, capfd)


def shows(said: str, shown: str) -> bool:
    """Whether the lines of `shown` stand in `said`; … stands for anything."""
    pattern = ".*?".join(re.escape(piece.strip()) for piece in shown.split("…"))
    return re.search(pattern, said, re.DOTALL) is not None


def desk(folder: Path) -> Desk:
    shutil.copytree(ROOT / "cases", folder / "cases", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "problems", folder / "problems")
    for name in ("tables", "audits"):
        shutil.copytree(ROOT / "docs" / name, folder / "docs" / name)
    return Desk(folder)


def write_the_example(folder: Path) -> Path:
    """The case that docs/writing-a-case.md builds."""
    case = folder / "records"
    case.mkdir()
    for language, name in (("python", "records.py"), ("toml", "case.toml")):
        text, *_ = (block.text for block in blocks(CASE_PAGE) if block.language == language)
        (case / name).write_text(text)
    return case


def make_recipe(target: str) -> list[str]:
    """The commands of a Makefile target, with the tools by their bare names."""
    (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return [line.strip().replace("$(BIN)/", "") for line in recipe.splitlines()]


# --- commands


@pytest.mark.slow
def test_a_case_is_written_step_by_step(reader: Desk) -> None:
    write_the_example(reader.folder)
    reader.follow(CASE_PAGE)


def test_the_commands_of_statistics_run(reader: Desk) -> None:
    reader.follow(ROOT / "docs/stats-commands.md")


@pytest.mark.slow
def test_the_exact_commands_run(reader: Desk) -> None:
    reader.follow(EXACT_PAGE)


def test_the_audits_of_the_page_run(reader: Desk) -> None:
    reader.follow(AUDIT_PAGE)


def test_the_audit_files_of_the_page_are_the_shipped_ones() -> None:
    shown = re.findall(
        r"`docs/audits/([\w-]+\.toml)`:\n\n```toml\n(.*?)^```$", AUDIT_PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    named = dict(shown)
    for name, text in named.items():
        assert (ROOT / "docs/audits" / name).read_text() == text, name
    tables = {key for text in named.values() for key in tomllib.loads(text)}
    assert tables == set(audit_schema.AuditFileTable.model_fields)


@pytest.mark.slow
def test_a_manifest_is_written_for_runs_elsewhere(reader: Desk, tmp_path: Path) -> None:
    reader.follow(ROOT / "docs/runs-elsewhere.md")
    manifest = json.loads((tmp_path / "paging.manifest.json").read_text())
    page = (ROOT / "docs/runs-elsewhere.md").read_text()
    assert all(f"`{key}" in page for key in (*manifest, *manifest["units"][0]))
    program = next(block.text for block in blocks(ROOT / "docs/runs-elsewhere.md") if block.language == "python")
    few = json.dumps({**manifest, "units": manifest["units"][-2:]})
    (tmp_path / "cases/paging/paging.manifest.json").write_text(few + "\n")
    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "cases/paging", capture_output=True, text=True, check=True
    )
    table = parse_runs(printed.stdout.encode(), name="printed", axes=["k"], needs=["k", "unit", "stream"], ingest=True)
    assert set(table.extras["unit"]) == {unit["unit"] for unit in manifest["units"][-2:]}
    assert all(datetime.fromisoformat(text).tzinfo for text in table.extras["started"])


def shown_problems() -> dict[str, str]:
    """The problem files of docs/writing-a-problem.md: a name at the end of a paragraph, and the block after it."""
    page = PROBLEM_PAGE.read_text()
    named = dict(re.findall(r"`([\w-]+\.json)`:\n\n```json\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    assert len(named) == sum(block.language == "json" for block in blocks(PROBLEM_PAGE))
    return named


def test_the_problems_of_the_page_run(reader: Desk) -> None:
    for name, text in shown_problems().items():
        (reader.folder / name).write_text(text)
    reader.follow(PROBLEM_PAGE)


def test_the_page_has_a_problem_of_every_kind() -> None:
    problems = [json.loads(text) for text in shown_problems().values()]
    for problem in problems:
        parse_problem(problem)
    shipped = {"clipped-descent", "three-block-admm"}  # explained where a system is added; a linear iteration
    formats = {"hardmax-frank-wolfe", "piecewise-affine", "expressions"}
    named = {problem["system"] for problem in problems}
    assert named == (set(systems()) | formats) - shipped
    assert any("find" in problem["state"] for problem in problems)


@pytest.fixture(scope="module")
def after_the_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, str]:
    reader = desk(tmp_path_factory.mktemp("demo"))
    return reader, "".join(reader.type(command) for command in make_recipe("demo"))


@pytest.mark.slow
def test_the_demo_ends_as_the_readme_shows(after_the_demo: tuple[Desk, str]) -> None:
    _, said = after_the_demo
    (shown,) = (step.shown for step in steps(README) if step.commands == ["make demo"])
    assert said.endswith(shown)


@pytest.mark.slow
def test_the_commands_of_the_readme_run(after_the_demo: tuple[Desk, str]) -> None:
    after_the_demo[0].follow(README)


@pytest.mark.slow
def test_the_worked_example_of_the_growth_rule_is_the_demo(after_the_demo: tuple[Desk, str]) -> None:
    reader, _ = after_the_demo
    reader.follow(RULE_PAGE)
    (command,) = (command for step in steps(RULE_PAGE) for command in step.commands)
    found = json.loads(reader.type(f"{command} --json"))
    (about,) = found["probes"]
    n, up, cone = about["statistics"], about["statistics"]["slope_up"], about["statistics"]["slope_cone"]
    full, grow = n["slope_full"], n["e_grow"]["sup"]
    example = RULE_PAGE.read_text().partition("## A worked example")[2].partition("\n## ")[0]
    for words in (
        f"{n['n']} of {about['rule']['looks'][-1]}, that is {100 * n['n']:,} phases",
        f"{full['estimate']:.3f}, standard error {full['stderr']:.3f}, {full['sigma_fixed_n']:.1f} sigma at fixed n",
        f"{up['estimate']:.3f}, standard error {up['stderr']:.3f}",
        f"{cone['estimate']:.3f}, standard error {cone['stderr']:.3f}, {cone['sigma_fixed_n']:.1f} sigma at fixed n",
        f"{cone['interval'][0]:.3f} (cone, lower end) and {full['interval'][1]:.3f} (full, upper end)",
        f"{grow:,.0f}; times {n['discount']:.3f} for the first registration it is {grow * n['discount']:,.0f}, above",
        f"| E_flat now | {n['e_flat']['current']:.3f},",
        f"χ² = {n['misfit']['chi2']:.2f} on {n['misfit']['df']} degrees of freedom, p = {n['misfit']['p']:.2f}",
        f"| prediction | p = {n['extrapolation']['p']:.2f}",
        f"| anytime sigma, all registrations counted | {n['sigma_discounted']:.1f} |",
        f"`{about['answer']}`, so `{about['outcome']}`; all controls passed, so the dispute stands",
        f"(`{found['ruling']}`)",
    ):
        assert words in example, words
    assert all(control["passed"] for control in found["controls"])


def command_at(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that `words` (without `verifier`) name, and its arguments."""
    node: click.Command = root_command
    while isinstance(node, click.Group) and words:
        inner = node.get_command(click.Context(node), words[0])
        assert inner is not None, f"verifier has no command {words[0]}"
        node, words = inner, words[1:]
    return node, words


def test_every_shown_command_can_be_typed() -> None:
    shown = [command for command in all_commands() if not command.startswith("make ")]
    assert len(shown) > 10
    for command in shown:
        program, *words = shlex.split(command)
        assert program == "verifier", command
        node, arguments = command_at(words)
        node.make_context(command, arguments)  # raises a UsageError for what the command does not take


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    prose = re.sub(r"[^\x00-\x7f]", " ", page.read_text())
    for target in re.findall(r"(?:\$ |`)make ([a-z-]+)", prose):
        assert target in targets, target


def leaves(node: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(node, click.Group):
        for inner_name in node.list_commands(click.Context(node)):
            inner = node.get_command(click.Context(node), inner_name)
            assert inner is not None
            yield from leaves(inner, f"{name} {inner_name}")
    else:
        yield name, node


def test_every_command_is_in_the_documents_and_every_option_has_its_line() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    found = dict(leaves(root_command, "verifier"))
    assert {name.split()[1] for name in found} == set(COMMANDS)
    for name, command in found.items():
        assert name in text, f"no document mentions {name}"
        assert command.help, name
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{name} {option.name} has no line of help"


def test_options_that_the_documents_name_exist() -> None:
    known = {option for _, command in leaves(root_command, "") for entry in command.params for option in entry.opts}
    for page in [README, *(ROOT / "docs").rglob("*.md")]:
        for code in re.findall(r"`([^`\n]+)`", page.read_text()):
            if code.startswith(("verifier ", "--")):
                assert set(re.findall(r"--[a-z-]+", code)) <= known, f"{page.name}: {code}"


# --- case.toml

TABLES: dict[str, type[BaseModel]] = {
    "[case]": schema.CaseTable,
    "[paper]": schema.PaperTable,
    "paper.later_versions": schema.LaterVersionTable,
    "[claim]": schema.ClaimTable,
    "claim.parts": schema.PartTable,
    "[dispute]": schema.DisputeTable,
    "dispute.source": schema.SourceTable,
    "[[premise]]": schema.PremiseTable,
    "[[implementation]]": schema.ImplementationTable,
    "[parameters]": schema.ParameterTable,
    "[[probe]]": ProbeTable,
    "[[probe]]`, a sweep": probe.SweepTable,
    "probe.stages": probe.StageTable,
    "[[probe]]`, a sweep under a bound": BoundSweepTable,
    "[[probe]]`, exact work": exact_probe.ExactTable,
    "probe.controls`, of a sweep": probe.ControlTable,
    "probe.controls`, of exact work": exact_probe.ExactControlTable,
    "[probe.planned]": probe.PlannedTable,
    "[[probe]]`, an audit": audit_probe.AuditTable,
    "probe.controls`, of an audit": audit_probe.AuditControlTable,
    "[[probe]]`, a replication": replication.ReplicationTable,
    "probe.controls`, of a replication": replication.RunsControlTable,
    "[probe.planned]`, of a replication": replication.PlannedReplicateTable,
    "[probe.rule]": GrowthTable,
    "[probe.rule]`, a rate": RULES["rate"],
    "[probe.rule]`, a bound": RULES["bound"],
    "[probe.rule]`, a difference": RULES["difference"],
    "[probe.rule]`, a ratio": RULES["ratio"],
    "[probe.rule]`, a proportion": RULES["proportion"],
    "[probe.rule]`, a count": RULES["count"],
    "[[prior]]": schema.PriorTable,
}
AUDIT_TABLES: dict[str, type[BaseModel]] = {
    "[left]` and `[right]": audit_schema.RecordTable,
    "left.per": audit_schema.PerTable,
    "left.items": audit_schema.ItemsTable,
    "left.selection": audit_schema.SelectionTable,
    "left.formula": audit_schema.FormulaTable,
    "[comparison]": audit_schema.ComparisonTable,
    "[declared]": audit_schema.DeclaredTable,
    "declared.factors": audit_schema.FactorTable,
    "[reconcile]": audit_schema.ReconcileTable,
    "[dilution]": audit_schema.DilutionTable,
    "dilution.measured": audit_schema.MeasuredTable,
    "dilution.pad_loss": audit_schema.PadLossTable,
    "dilution.printed_deflation": audit_schema.PrintedDeflationTable,
    "[granularity]": audit_schema.GranularityTable,
    "[speed]": audit_schema.SpeedTable,
    "[closure]": audit_schema.ClosureTable,
    "[arrays]": audit_schema.ArraysTable,
    "arrays.columns": audit_schema.ColumnsTable,
    "[selection]": audit_schema.BestTable,
    "selection.left` and `selection.right": audit_schema.ArmTable,
}
DOCUMENTED = [
    *((CASE_PAGE, heading, table) for heading, table in TABLES.items()),
    *((AUDIT_PAGE, heading, table) for heading, table in AUDIT_TABLES.items()),
]
REQUIRED = "required"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables_of_the_page(page: Path) -> dict[str, dict[str, list[str]]]:
    """Heading -> key -> [type, default, meaning]."""
    found = {}
    for section in page.read_text().partition("\n## All keys")[2].partition("\n## ")[0].split("\n### ")[1:]:
        rows = [cells(line) for line in section.splitlines() if line.startswith("| `")]
        found[section.splitlines()[0].strip("`")] = {row[0].strip("`"): row[1:] for row in rows}
    return found


def own_default(field: FieldInfo) -> Any:
    if field.is_required():
        return REQUIRED
    default = field.get_default(call_default_factory=True)
    return (
        {key: value for key, value in default.model_dump().items() if value}
        if isinstance(default, BaseModel)
        else default
    )


def stated_default(cell: str, own: Any) -> Any:
    if cell == "none":
        return None
    if not cell.startswith("`"):
        return REQUIRED
    value = tomllib.loads(f"x = {cell.strip('`')}")["x"]
    return Fraction(value) if isinstance(own, Fraction) else value


def words_of(annotation: Any) -> set[str]:
    """The texts that a key may hold, where only some may."""
    if typing.get_origin(annotation) is typing.Literal:
        return {word for word in typing.get_args(annotation) if isinstance(word, str) and word}
    return set().union(*(words_of(argument) for argument in typing.get_args(annotation)))


def test_the_page_has_every_table_of_case_toml() -> None:
    assert set(tables_of_the_page(CASE_PAGE)) == set(TABLES)
    top = {re.sub(r"\W", "", heading) for heading in TABLES if re.fullmatch(r"\[+\w+\]+", heading)}
    assert top == set(schema.CaseFileTable.model_fields)


def test_the_page_has_every_table_of_an_audit_file() -> None:
    assert set(tables_of_the_page(AUDIT_PAGE)) == set(AUDIT_TABLES)
    own = [each for each in vars(audit_schema).values() if isinstance(each, type) and issubclass(each, BaseModel)]
    assert {each for each in own if each.__module__ == audit_schema.__name__} == {
        *AUDIT_TABLES.values(),
        audit_schema.AuditFileTable,
    }
    top = set(re.findall(r"\[(\w+)\]", " ".join(AUDIT_TABLES)))
    assert top == set(audit_schema.AuditFileTable.model_fields)


@pytest.mark.parametrize(("page", "heading", "table"), DOCUMENTED, ids=[heading for _, heading, _ in DOCUMENTED])
def test_the_page_has_every_key_with_its_default_and_its_words(
    page: Path, heading: str, table: type[BaseModel]
) -> None:
    rows = tables_of_the_page(page)[heading]
    fields = {field.alias or key: field for key, field in table.model_fields.items()}
    if heading.startswith("[[probe]]`"):  # what every probe has stands in a table of its own
        fields = {key: field for key, field in fields.items() if key not in ProbeTable.model_fields}
    assert set(rows) == set(fields)
    for key, (type_cell, default_cell, meaning) in rows.items():
        own = own_default(fields[key])
        assert stated_default(default_cell, own) == own, key
        assert words_of(fields[key].annotation) == set(re.findall(r'"(\w[\w-]*)"', type_cell)), key
        assert (fields[key].annotation is bool) == (type_cell == "boolean"), key
        assert meaning


def test_the_checks_of_controls_are_on_the_page() -> None:
    text = CASE_PAGE.read_text()
    for check in probe.CHECKS:
        assert f"{{ {check} = " in text


def test_the_example_case_is_read_and_the_engine_leaves_it_alone(tmp_path: Path) -> None:
    case = load(write_the_example(tmp_path))
    assert {control.expect.kind for control in case.probes[0].controls} == {"named", "equals", "values"}
    (shown,) = (block.text for block in blocks(CASE_PAGE) if "report: " in block.text)
    assert f"records-{case.registration[:12]}.html" in shown


# --- the growth rule

FACTS = [
    "too_few_scales",
    "no_variance",
    "misfit",
    "grows",
    "flat",
    "half",
    "flat_now",
    "grow_now",
    "extrapolates",
    "reaches_claim",
    "fast_law",
    "adequate",
]
CONDITIONS = {
    f"fewer than {LEAST_SCALES} scales": ("too_few_scales", True),
    "no variance": ("no_variance", True),
    "misfit": ("misfit", True),
    "G ≥ T": ("grows", True),
    "F ≥ T": ("flat", True),
    f"H ≥ {HALF_BAR:.0f}": ("half", True),
    "E_flat now < 1": ("flat_now", False),
    "E_grow now < 1": ("grow_now", False),
    "the prediction holds": ("extrapolates", True),
    "the prediction fails": ("extrapolates", False),
    "K ≥ K_claim": ("reaches_claim", True),
    "K < K_claim": ("reaches_claim", False),
    "a power law": ("fast_law", True),
    "adequate": ("adequate", True),
    "not adequate": ("adequate", False),
}


def answer_rows() -> list[list[str]]:
    section = RULE_PAGE.read_text().partition("## The answers")[2].partition("\n## ")[0]
    return [cells(line) for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_answer_table_says_what_the_rule_decides() -> None:
    rows = [([CONDITIONS[word] for word in row[0].split(" and ")], row[1].strip("`")) for row in answer_rows()]
    for values in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        stated = next(answer for wanted, answer in rows if all(facts[fact] == value for fact, value in wanted))
        assert stated == decide(**facts), facts


def test_the_answer_table_has_every_answer_with_outcome_and_sentence() -> None:
    stated = {row[1]: row[2:] for row in answer_rows()}
    assert stated == {
        f"`{answer}`": [
            f"`{answer.outcome}: {answer.reason}`" if answer.reason else f"`{answer.outcome}`",
            answer.sentence,
        ]
        for answer in GrowthAnswer
    }


def test_the_figures_that_need_no_data() -> None:
    text = RULE_PAGE.read_text()
    cone = contrasts([32, 64, 128, 256, 512, 1024], gamma0=0.5, law="log").cone
    for words in (
        f"T = {int(GrowthTable.model_fields['threshold'].default):,}",
        ", ".join(f"{6 / (math.pi * ordinal) ** 2:.2g}" for ordinal in (1, 2, 3)),
        f"({p_to_e(math.erfc(5 / math.sqrt(2)) / 2):,.0f})",
        f"T = 10,000 is {anytime_sigma(math.log(10_000)):.1f}",
        ", ".join(f"{w:.3f}".replace("-", "−") for w in cone) + f" (absolute sum {abs(cone).sum():.3f})",
    ):
        assert words in text, words


# --- every page, every file


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert (page.parent / link).exists(), link
    for code in re.findall(r"`([^`\n]+)`", text):
        path, _, test = code.partition("::")
        if re.fullmatch(r"verifier/[a-z-]+/\d", path):  # the name of a schema
            continue
        if re.fullmatch(r"(verifier|tests|docs|cases|benchmarks|changelog)/[\w./-]*", path):
            assert (ROOT / path).exists(), path
            assert not test or f"def {test}(" in (ROOT / path).read_text(), code


@pytest.mark.parametrize("note", sorted((ROOT / "docs/design").glob("*.md")), ids=lambda note: note.stem)
def test_a_design_note_is_short_and_names_its_guard(note: Path) -> None:
    text = note.read_text()
    assert len(text.splitlines()) <= 40
    for heading in ("**Problem.**", "**Decision.**", "**Places.**", "**Guarding test", "**Limit.**"):
        assert heading in text
    assert "::test_" in text


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_nobody_is_accused() -> None:
    shunned = re.compile(r"\w*(?:falsif|fraud|fabricat|manipulat|misconduct|refut)\w*", re.IGNORECASE)
    # `refute` is a command's name, and code and pages name it; what a run prints is held by the tests of reports
    allowed = re.compile(
        r"claimed falsifications of scientific papers|\bfalsified\b|\bFALSIFIED\b"
        r"|\bverifier[ /.]refute\b|\b_?[Rr]efutations?\b|\b_?refut(?:e|ation)_?\w*\b"
    )
    for path in tracked():
        if not path.is_relative_to(ROOT / "tests"):  # tests name the words in order to look for them
            assert not shunned.findall(allowed.sub("", path.read_text(errors="replace"))), path


def test_no_file_names_a_machine_or_a_registry() -> None:
    machine = re.compile(r"/(?:work|home|root|Users)/\w")
    registry = re.compile(r"pypi\.(?:org|python)|python[h]osted|--(?:extra-)?index-[u]rl")
    for path in tracked():
        text = path.read_text(errors="replace")
        assert not machine.findall(text), path
        assert not registry.findall(text), path
