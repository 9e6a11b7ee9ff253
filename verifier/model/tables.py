"""Strict tables at the door: unknown keys, missing fields and wrong types each become one sentence."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from verifier.model.errors import BadInput, VerifierError
from verifier.model.numbers import parse_rational

Path = tuple[str | int, ...]


class Table(BaseModel):
    """A table of a file from outside: no unknown key, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TableError(BadInput):
    """A table is not what it must be. `path` leads from the file's root to the key."""

    def __init__(self, what: str, *, path: Path, mend: str = "") -> None:
        self.path = path
        super().__init__(what, where=path_text(path), mend=mend)


def path_text(path: Path) -> str:
    """A path as a person writes it: `probe[0].rule.delta`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _checked(function: Callable[[str], object]) -> Callable[[str], str]:
    def check(text: str) -> str:
        try:
            function(text)
        except VerifierError as error:
            raise ValueError(f"{error.what}; {error.mend}" if error.mend else error.what) from None
        return text

    return check


Number = Annotated[str, AfterValidator(_checked(parse_rational))]
"""An exact number as text: decimal, scientific or p/q."""

Line = Annotated[str, StringConstraints(max_length=2_000)]
"""Free text of a few sentences at most."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
"""An id: letters, digits, `_ . -`."""

TargetName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}:[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""`module:function` in the case folder."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

T = TypeVar("T", bound=BaseModel)
V = TypeVar("V")


def validate(model: type[T], data: object, *, path: Path = ()) -> T:
    """`data` as a `model`. Raises TableError naming the first bad key, what it must be and the nearest valid key."""
    try:
        return model.model_validate(data)
    except ValidationError as failure:
        raise _first_error(model, failure, path) from None


def choose(kinds: Mapping[str, V], data: Mapping[str, Any], *, what: str, path: Path) -> V:
    """The entry of `kinds` that `data["kind"]` names. Raises TableError for a missing or an unknown kind."""
    kind = data.get("kind")
    if kind is None:
        raise TableError(f"the {what} has no kind", path=path, mend=f"add kind = one of {', '.join(kinds)}")
    if kind not in kinds:
        raise TableError(f"unknown {what} {_shown(kind)}", path=(*path, "kind"), mend=nearest(str(kind), list(kinds)))
    return kinds[kind]


def nearest(word: str, valid: list[str]) -> str:
    """How to mend an unknown word: the nearest valid one, or all of them."""
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]}?" if len(valid) == 1 else f"the nearest valid one is {close[0]}"
    return f"valid are: {', '.join(sorted(valid))}"


def _first_error(model: type[BaseModel], failure: ValidationError, path: Path) -> TableError:
    # unknown keys first: a mistyped key also makes the right one missing, and the typo is what to mend
    errors = sorted(failure.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
    error = errors[0]
    location = tuple(step for step in error["loc"] if not _is_union_tag(step))
    full = (*path, *location)
    match error["type"]:
        case "extra_forbidden":
            fields = _fields_at(model, location[:-1])
            return TableError(f"unknown key {location[-1]}", path=full, mend=nearest(str(location[-1]), fields))
        case "missing":
            return TableError(
                f"the key {location[-1]} is missing", path=full, mend=f"add it to {path_text(full[:-1]) or 'the file'}"
            )
        case "value_error":
            return TableError(str(error["ctx"]["error"]), path=full)
        case "string_type" if isinstance(error["input"], float | int):
            return TableError(
                f"{_shown(error['input'])} is not a text",
                path=full,
                mend=f'put it in quotes: "{_shown(error["input"])}"',
            )
        case "string_pattern_mismatch":
            pattern = error["ctx"]["pattern"]
            return TableError(
                f"{_shown(error['input'])} does not have the form it must have", path=full, mend=f"match {pattern}"
            )
        case _:
            message = error["msg"].removeprefix("Input ")
            return TableError(f"{_shown(error['input'])} {message}", path=full)


def _is_union_tag(step: str | int) -> bool:
    # pydantic names the tried member of a union in the location, e.g. "list[str]" or "constrained-str"
    return isinstance(step, str) and (
        "[" in step or step in {"str", "int", "constrained-str", "constrained-int", "bool"}
    )


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields_at(model: type[BaseModel], location: Path) -> list[str]:
    """The keys of the table at `location` below `model`."""
    current: type[BaseModel] = model
    for step in location:
        if isinstance(step, int) or step not in current.model_fields:
            continue
        inner = _model_in(current.model_fields[step].annotation)
        if inner is not None:
            current = inner
    return [field.alias or name for name, field in current.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in typing.get_args(annotation):
        if (found := _model_in(argument)) is not None:
            return found
    return None
