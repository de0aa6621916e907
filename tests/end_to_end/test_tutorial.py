"""The tutorial from a wheel in a clean environment; needs a package index."""

from __future__ import annotations

import pytest


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_tutorial_prints_what_it_shows_when_done_from_a_wheel(capsys) -> None:
    from tools import tutorial

    tutorial.main()
    assert "outputs are those of the page" in capsys.readouterr().out
