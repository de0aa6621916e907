"""What people who file an answer say about it: which case it belongs to, when and for what it was made, with which model.

It stands in the answer's file, under the checksum. It is what somebody says: nobody can prove it again, but whoever signs the
file (`elbowroom.signature`) says it under a name. An answer has none unless it is asked for, so that the same question
gives the same file.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Final

from elbowroom.errors import InputError
from elbowroom.problem.reader import Reader
from elbowroom.visible import brief

MOST_CHARACTERS: Final = 1000  # of each text
TEXTS: Final = ("case", "purpose", "model")


@dataclass(frozen=True)
class Attestation:
    """What somebody who files an answer says about it.

    Attributes:
        time: With a time zone, and whole seconds.
        case: Which case it belongs to; "" where nothing is said.
        purpose: What it was made for.
        model: What the model is called.

    Examples:
        >>> Attestation.of("17/2031", "appeal", "", "2031-05-17T09:30:00+00:00").entries[0]
        ('Case', '17/2031')
    """

    time: datetime.datetime
    case: str = ""
    purpose: str = ""
    model: str = ""

    @classmethod
    def of(cls, case: str, purpose: str, model: str, time: datetime.datetime | str | None) -> Attestation:
        """From what a user gives.

        Args:
            case: A text.
            purpose: A text.
            model: A text.
            time: With its zone; None: now.

        Returns:
            What is attested, checked.
        """
        for name, text in zip(TEXTS, (case, purpose, model), strict=True):
            if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
                raise InputError(
                    f"{name}={brief(repr(text))}: give a text of at most {MOST_CHARACTERS:,} characters, for example {name}='17/2031'"
                )
        return cls(_moment(time), case, purpose, model)

    @property
    def when(self) -> str:
        """The time as people write it: 2031-05-17 09:30:00 UTC; +02:00 in place of UTC elsewhere."""
        text = self.time.isoformat(" ")
        zone = text[19:]
        return f"{text[:19]} {'UTC' if zone == '+00:00' else zone}"

    @property
    def entries(self) -> list[tuple[str, str]]:
        """What is said, with the name of each part."""
        parts = [("Case", self.case), ("Purpose", self.purpose), ("Time", self.time.isoformat()), ("Model", self.model)]
        return [(name, text) for name, text in parts if text]


def _moment(time: datetime.datetime | str | None) -> datetime.datetime:
    wanted = "give a time with its zone, for example '2031-05-17T09:30:00+00:00', or None for now"
    if time is None:
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    if isinstance(time, str):
        try:
            time = datetime.datetime.fromisoformat(time)
        except ValueError:
            raise InputError(f"time={brief(repr(time))}: {wanted}") from None
    if not isinstance(time, datetime.datetime) or time.utcoffset() is None:
        raise InputError(f"time={brief(repr(time))}: {wanted}")
    return time.replace(microsecond=0)


def attestation_out(attestation: Attestation) -> dict[str, Any]:
    return {
        "case": attestation.case,
        "purpose": attestation.purpose,
        "time": attestation.time.isoformat(),
        "model": attestation.model,
    }


def attestation_in(top: Reader) -> Attestation | None:
    """None where nothing is attested."""
    if "attestation" not in top.mapping():
        return None
    entry = top.at("attestation")
    for name in TEXTS:
        if len(entry.at(name).text()) > MOST_CHARACTERS:
            raise entry.at(name).wrong(f"a text of at most {MOST_CHARACTERS:,} characters")
    wanted = "a time with its zone and whole seconds, such as 2031-05-17T09:30:00+00:00"
    time = entry.at("time").parsed(datetime.datetime.fromisoformat, datetime.datetime.isoformat, wanted)
    if time.utcoffset() is None or time.microsecond:
        raise entry.at("time").wrong(wanted)
    return Attestation(time, *(entry.at(name).text() for name in TEXTS))
