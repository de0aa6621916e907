"""The audit tells true from false, whoever made the centre; the gradient baseline does what its authors describe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.audit import Center, judge, read_centers
from benchmarks.audit.judge import case_of
from benchmarks.audit.run import table
from benchmarks.baselines.gradient import Network, Settings, robust_recourse, worst_shift
from benchmarks.cells import trained
from benchmarks.data import load

from elbowroom import Ball, Box, Explainer
from elbowroom.result import Certificate

RHO = 0.02


@pytest.fixture(scope="module")
def tree_answer() -> np.ndarray:
    X, _ = load("cancer")
    region = Explainer(trained("cancer", case_of("DT-3"))).explain(X[0], room=Box(RHO))
    assert region
    return region.body.center


def _center(method: str, values: np.ndarray | None) -> Center:
    return Center(method, "cancer", "DT-3", "linf", RHO, 0, values, 0.1)


def test_the_optimum_is_robust_and_a_nudge_towards_the_factual_is_not(tree_answer: np.ndarray) -> None:
    x = load("cancer")[0][0]
    nudged = tree_answer + 0.3 * RHO * np.sign(x - tree_answer)
    best, less, factual, nothing = judge(
        [_center("best", tree_answer), _center("less", nudged), _center("factual", x), _center("nothing", None)]
    )
    assert best["valid"]
    assert best["robust"] is True
    assert best["radius"] >= RHO
    assert best["distance"] == pytest.approx(best["optimum"], rel=1e-9)
    assert less["valid"]
    assert less["robust"] is False
    assert less["radius"] < RHO
    assert less["distance"] < less["optimum"]
    assert not factual["valid"]
    assert factual["radius"] == 0.0
    assert not nothing["answered"]
    lines = {line["method"]: line for line in table([best, less, factual, nothing])}
    assert lines["best"]["robust"] == 1
    assert lines["less"]["robust"] == 0 < lines["less"]["valid"]
    assert lines["less"]["radius_share"] == pytest.approx(less["radius"] / RHO)
    assert lines["nothing"]["answers"] == 0


def test_centres_are_read_from_a_file(tmp_path: Path, tree_answer: np.ndarray) -> None:
    names = ["method", "data", "model", "norm", "rho", "row", "seconds", *(f"x{i}" for i in range(tree_answer.size))]
    rows = [
        ["mine", "cancer", "DT-3", "linf", str(RHO), "0", "0.5", *(repr(float(v)) for v in tree_answer)],
        ["mine", "cancer", "DT-3", "linf", str(RHO), "1", "", *([""] * tree_answer.size)],
    ]
    path = tmp_path / "centers.csv"
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    first, second = read_centers(path)
    assert first.values is not None
    assert np.array_equal(first.values, tree_answer)
    assert first.seconds == 0.5
    assert second.values is None
    assert judge([first])[0]["robust"] is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method,data\nmine,cancer\n", "columns"),
        ("method,data,model,norm,rho,row,seconds,x0\nmine,cancer,DT-3,linf,0.1,0,,0.5\n", "line 2"),
        ("method,data,model,norm,rho,row,seconds,x0\nmine,cancer,DT-3,linf,wide,0,,\n", "line 2"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "centers.csv"
    path.write_text(text)
    with pytest.raises(SystemExit, match=said):
        read_centers(path)


def test_gradients_equal_differences() -> None:
    X, _ = load("cancer")
    model = trained("cancer", case_of("NN-10"))
    for wanted in model.classes_:
        network = Network.of(model, wanted)
        for x in X[:5]:
            value, slope = network.logit(x)
            assert (value > 0.0) == (model.predict(x[None])[0] == wanted)
            for f in range(0, x.size, 7):
                step = np.zeros_like(x)
                step[f] = 1e-6
                numeric = (network.logit(x + step)[0] - network.logit(x - step)[0]) / 2e-6
                assert numeric == pytest.approx(slope[f], rel=1e-4, abs=1e-6)
            shift = worst_shift(network, x, 0.1)
            assert np.linalg.norm(shift) == pytest.approx(0.1)
            assert network.logit(x + shift)[0] < value


def test_the_gradient_method_ends_where_its_own_attack_is_content() -> None:
    X, _ = load("cancer")
    model = trained("cancer", case_of("NN-10"))
    explainer = Explainer(model)
    seen = []
    for x in X[:4]:
        wanted = 1 - model.predict(x[None])[0]
        center, content = robust_recourse(model, x, wanted, 0.1, Settings(step=0.01))
        assert content
        network = Network.of(model, wanted)
        for point in (center, center + worst_shift(network, center, 0.1)):
            assert model.predict(point[None])[0] == wanted
        best = explainer.explain(x, room=Ball(0.1))
        if isinstance(explainer.certify(center, Ball(0.1), wanted), Certificate):
            assert best
            assert np.abs(center - x).sum() >= best.lower_bound * (1 - 1e-9)
        seen.append(center)
    assert len(seen) == 4
