"""Strict tables at the door: unknown keys, missing fields and wrong types each become one sentence."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from verifier.model.complaints import Path, complain, nearest, path_text, shown
from verifier.model.errors import BadInput, VerifierError
from verifier.model.numbers import parse_rational

__all__ = [
    "Line",
    "Name",
    "Number",
    "OneOrMore",
    "Path",
    "Sha256",
    "Table",
    "TableError",
    "TargetName",
    "choose",
    "complaint",
    "form",
    "nearest",
    "path_text",
    "validate",
]


class Table(BaseModel):
    """A table of a file from outside: no unknown key, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TableError(BadInput):
    """A table is not what it must be. `path` leads from the file's root to the key."""

    def __init__(self, what: str, *, path: Path, mend: str = "") -> None:
        self.path = path
        super().__init__(what, where=path_text(path), mend=mend)


def complaint(what: str, *, mend: str, key: str = "") -> PydanticCustomError:
    """The error for a validator to raise; `validate` turns it into a TableError with these words.

    `key` is the key it is about, where a validator of the whole table raises it.
    """
    # the words travel in the context: a template may not hold a stranger's braces
    return PydanticCustomError("complaint", "{what}; {mend}", {"what": what, "mend": mend, "key": key})


def form(pattern: str, *, what: str, mend: str) -> AfterValidator:
    """A text of the form `pattern`; `what` is such a text called (`a target`), `mend` says how one is written."""
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise complaint(f"{shown(text)} is not {what}", mend=mend)
        return text

    return AfterValidator(check)


def _checked(function: Callable[[str], object]) -> Callable[[str], str]:
    def check(text: str) -> str:
        try:
            function(text)
        except VerifierError as error:
            raise complaint(error.what, mend=error.mend) from None
        return text

    return check


Number = Annotated[str, AfterValidator(_checked(parse_rational))]
"""An exact number as text: decimal, scientific or p/q."""

Line = Annotated[str, StringConstraints(max_length=2_000)]
"""Free text of a few sentences at most."""

Name = Annotated[
    str,
    form(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", what="a name", mend="write letters, digits and _ . - only, at most 64"),
]
"""An id: letters, digits, `_ . -`."""

TargetName = Annotated[
    str,
    form(
        r"[A-Za-z_][A-Za-z0-9_]{0,63}:[A-Za-z_][A-Za-z0-9_]{0,63}",
        what="a target",
        mend='write "module:function", a module of the case folder without .py and a function in it',
    ),
]
"""`module:function` in the case folder."""

Sha256 = Annotated[
    str, form(r"([0-9a-f]{64})?", what="a SHA-256", mend='write 64 digits 0-9 a-f, as sha256sum does, or "" for none')
]
"""64 lower-case hexadecimal digits, or nothing."""

OneOrMore = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
"""On a list: a single value stands for the list of it."""

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
        example = " or ".join(f'kind = "{name}"' for name in kinds)
        raise TableError(f"the {what} has no kind", path=path, mend=f"add {example}")
    if not isinstance(kind, str) or kind not in kinds:
        mend = nearest(str(kind), list(kinds), what="kind")
        raise TableError(f"unknown {what} kind {shown(kind)}", path=(*path, "kind"), mend=mend)
    return kinds[kind]


def _first_error(model: type[BaseModel], failure: ValidationError, path: Path) -> TableError:
    # unknown keys first: a mistyped key also makes the right one missing, and the typo is what to mend
    errors = sorted(failure.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
    error = errors[0]
    # a key of a table of free names is at fault itself where pydantic adds this step
    location = tuple(step for step in error["loc"] if step != "[key]")
    match error["type"]:
        case "extra_forbidden":
            key = path_text((location[-1],))
            fields = _fields_at(model, location[:-1])
            return TableError(f"unknown key {key}", path=(*path, *location), mend=nearest(key, fields, what="key"))
        case "missing":
            return _missing(model, (*path, *location), at_root=not path and len(location) == 1)
    found = complain(error, table=str(location[0]) if not path and len(location) == 1 else "")
    return TableError(found.what, path=(*path, *location, *([found.key] if found.key else [])), mend=found.mend)


def _missing(model: type[BaseModel], path: Path, *, at_root: bool) -> TableError:
    key = str(path[-1])
    if at_root:  # the file itself holds tables only
        many = typing.get_origin(_bare(model.model_fields[key].annotation)) is list
        header = f"[[{key}]]" if many else f"[{key}]"
        return TableError(f"the table {header} is missing", path=path, mend=f"add {header} with its keys")
    return TableError(f"the key {key} is missing", path=path, mend=f"add {key} = ... to {path_text(path[:-1])}")


def _bare(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation


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
