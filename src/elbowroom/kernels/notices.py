"""What users are told about compiled code: one line in the log per topic and process. A warning is shown even where no
log is set up."""

from __future__ import annotations

import logging
from enum import Enum
from typing import Final

LOGGER = logging.getLogger("elbowroom")


class Topic(Enum):
    """What is said once per process."""

    DAMAGED = "a file of the cache is damaged"
    REFUSED = "others may write to the folder of the cache"
    NOT_KEPT = "compiled code could not be written"


_SAID: Final[set[Topic]] = set()


def once(topic: Topic, message: str, *arguments: object) -> None:
    """Say it, unless something of this topic has been said."""
    if topic not in _SAID:
        mark(topic)
        LOGGER.warning(message, *arguments)


def mark(topic: Topic) -> None:
    """It has been said, in other words."""
    _SAID.add(topic)
