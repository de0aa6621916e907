"""Raw columns: categories in the user's own words, missing values, and what data teach about both."""

from __future__ import annotations

import datetime
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from elbowroom import ElbowroomWarning, Feature, Group, InputError, Space
from elbowroom.problem import Direction, Kind, Missing
from elbowroom.problem.labels import Category, inner_names

ROWS = 24


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": np.arange(20, 20 + ROWS),
            "housing": ["own", "rent", "free"] * 8,
            "grade": pd.Categorical(["B", "A", "C", "A"] * 6, categories=["C", "B", "A", "F"], ordered=True),
            "salary": np.linspace(1000.0, 1001.5, ROWS),
            "code": pd.Series([1, "1", 2, "b"] * 6, dtype=object),
            "owner": [True, False] * 12,
        }
    )


def test_columns_of_categories_become_labelled_groups(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    assert space.columns == tuple(frame.columns)
    assert space.names == (
        "age",
        *("housing=free", "housing=own", "housing=rent"),
        *("grade=C", "grade=B", "grade=A"),
        "salary",
        *("code=1", "code='1'", "code=2", "code=b"),
        "owner",
    )
    housing, grade, code = space.groups
    assert (housing.labels, housing.pandas_category) == (("free", "own", "rent"), False)
    assert (grade.labels, grade.pandas_category) == (("C", "B", "A"), True)
    assert code.labels == (1, "1", 2, "b")
    assert space.features[-1].kind is Kind.BINARY


def test_table_and_inner_are_inverse(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    X = space.inner(frame)
    assert X.shape == (ROWS, 13)
    table = space.table(X)
    assert list(table.columns) == list(frame.columns)
    assert table["housing"].dtype == pd.Series(["own"]).dtype
    assert list(table["grade"].cat.categories) == ["C", "B", "A"]
    assert table["code"].tolist() == frame["code"].tolist()
    assert table["age"].dtype == np.float64
    assert np.array_equal(space.inner(table), X)
    assert np.array_equal(space.inner(table.iloc[:, ::-1]), X)


def test_rows_in_every_form(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    expected = space.inner(frame)[5].tolist()
    row = frame.iloc[5]
    forms: list[object] = [row, row[::-1], row.to_dict(), frame.iloc[[5]], list(row), tuple(row), row.to_numpy()]
    forms += [expected, np.array(expected), dict(zip(space.names, expected, strict=True)), dict(enumerate(row))]
    for form in forms:
        assert space.row(form).tolist() == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"housing": "onw"}, r"column 'housing': 'onw' is not one of its categories; did you mean 'own'\?"),
        ({"housing": "Own "}, r"did you mean 'own'\?"),
        ({"housing": 7}, r"the categories are \['free', 'own', 'rent'\]"),
        ({"housing": None}, "column 'housing': the category is missing, and it was in no row"),
        ({"housing": ["own"]}, "is not one of its categories"),
        ({"age": "old"}, "column 'age': 'old' is not a number"),
        ({"age": pd.NA}, "column 'age': nan is not a finite number; fill it in"),
        ({"age": 20.5}, "column 'age': 20.5 is not a whole number"),
        ({"salary": np.inf}, "column 'salary': inf is not a finite number"),
        ({"owner": 2}, "column 'owner': 2.0 is neither 0 nor 1"),
        ({"grade": "F"}, "column 'grade': 'F' is not one of its categories"),
    ],
)
def test_values_that_have_no_place_are_named(frame: pd.DataFrame, change: dict[str, object], message: str) -> None:
    space = Space.from_frame(frame)
    row = frame.iloc[0].to_dict() | change
    with pytest.raises(InputError, match="row, .*" + message):
        space.row(row)
    rows = pd.DataFrame([frame.iloc[1].to_dict(), row], index=["first", "second"], dtype=object)
    with pytest.raises(InputError, match="people, row 'second', .*" + message):
        space.inner(rows, "people")


def test_rows_of_other_columns_are_named(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    with pytest.raises(InputError, match=r"missing columns \['housing'\], unknown columns \['home'\]; .*'grade'"):
        space.row(frame.iloc[0].rename({"housing": "home"}))
    with pytest.raises(InputError, match=r"the rows lack the columns \['housing'\]"):
        space.inner(frame.drop(columns="housing"))
    with pytest.raises(InputError, match="5 values for 6 columns"):
        space.row(list(frame.iloc[0])[:5])
    with pytest.raises(InputError, match="DataFrame"):
        space.inner(frame.to_numpy())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="inner columns"):
        space.table(np.zeros((2, 4)))
    with pytest.raises(InputError, match="row 1, column 'housing': exactly one"):
        X = space.inner(frame)
        X[1, 1] = 0.5
        space.table(X)


# ---- declarations -----------------------------------------------------------------------------------------------------
def test_declarations_by_raw_name(frame: pd.DataFrame) -> None:
    space = Space.from_frame(
        frame,
        immutable=["housing"],
        weights={"grade": 3.0},
        categorical=["age"],
        units={"salary": "EUR"},
        missing={"salary": "may be filled"},
    )
    by_name = {f.name: f for f in space.features}
    assert by_name["housing=own"].immutable
    assert not by_name["grade=A"].immutable
    assert {g.name: g.weight for g in space.groups}["grade"] == 3.0
    assert next(g for g in space.groups if g.name == "age").labels == tuple(range(20, 20 + ROWS))
    assert by_name["salary"].missing is Missing.FILL
    assert by_name["owner"].missing is Missing.KEEP


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"increasing": ["housing"]}, "increasing: column 'housing' holds categories, which have no order"),
        ({"decreasing": ["grade"]}, "decreasing: column 'grade'"),
        ({"integer": ["code"]}, "integer: column 'code' holds categories"),
        ({"numeric": ["housing"]}, "numeric: column 'housing'"),
        ({"increasing": ["age"], "categorical": ["age"]}, "increasing: column 'age'"),
        ({"bounds": {"housing": (0, 1)}}, "bounds: column 'housing' holds categories"),
        ({"scale": {"housing": 2}}, "scale: column 'housing' holds categories.*weights="),
        ({"immutable": ["hosing"]}, "did you mean 'housing'"),
        ({"categorical": ["agee"]}, "did you mean 'age'"),
        ({"missing": "perhaps"}, "missing='perhaps' is unknown"),
        ({"missing": {"housing": "never"}}, "'never' is unknown"),
        ({"missing": 3}, "missing=3"),
        ({"immutable": ["housing=own"]}, "unknown column"),
    ],
)
def test_declarations_that_categories_do_not_take(
    frame: pd.DataFrame, keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(frame, **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.date_range("2020-01-01", periods=ROWS), r"column 'when' holds dates .*dt\.days"),
        (pd.Series([datetime.date(2020, 1, 1)] * ROWS, dtype=object), "holds dates"),
        (pd.to_timedelta(np.arange(ROWS), unit="D"), r"total_seconds"),
        (np.arange(ROWS) * 1j, "complex"),
        ([(1, 2)] * ROWS, "'when', row 0: .* is a tuple; categories are text"),
        (pd.cut(np.arange(ROWS), 3), r"Interval; categories .*astype\(str\)"),
        (pd.Series([None] * ROWS, dtype=object), "no value at all"),
        (pd.Categorical([None] * ROWS, categories=["a"]), "no value at all"),
    ],
)
def test_columns_that_are_neither_numbers_nor_categories(frame: pd.DataFrame, values: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(frame.assign(when=values))


def test_kinds_of_objects() -> None:
    some = pd.DataFrame(
        {
            "whole": pd.Series([1, 2, 3] * 8, dtype=object),
            "real": pd.Series([1, 2.5, None] * 8, dtype=object),
            "truth": pd.Series([True, False, None] * 8, dtype=object),
            "one": ["always"] * 24,
            "number": pd.Categorical([3, 1, 2] * 8),
            "floats": pd.Series([1.5, "x", np.float64(2.5)] * 8, dtype=object),
        }
    )
    space = Space.from_frame(some)
    labels = {g.name: g.labels for g in space.groups}
    assert labels == {
        "truth": (False, True, None),
        "one": ("always",),
        "number": (1, 2, 3),
        "floats": (1.5, "x", 2.5),
    }
    kinds = {f.name: f.kind for f in space.features}
    assert (kinds["whole"], kinds["real"]) == (Kind.INTEGER, Kind.NUMERIC)
    assert "truth=missing" in space.names
    assert next(f for f in space.features if f.name == "one=always").lower == 1.0
    X = space.inner(some, allow_missing=True)
    assert np.array_equal(space.inner(space.table(X), allow_missing=True), X, equal_nan=True)


# ---- missing values ---------------------------------------------------------------------------------------------------
def test_bounds_and_scales_come_from_what_is_there() -> None:
    some = pd.DataFrame(
        {"age": [18.0, np.nan, 60.0] * 8, "x": [0.5, np.nan, 2.0] * 8, "home": ["own", None, "rent"] * 8}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        space = Space.from_frame(some, missing="may be filled")
    age, x, *home = space.features
    assert (age.kind, age.lower, age.upper, age.scale) == (Kind.INTEGER, 18.0, 60.0, 42.0)
    assert (x.kind, x.lower, x.upper) == (Kind.NUMERIC, 0.5, 2.0)
    assert [f.name for f in home] == ["home=own", "home=rent", "home=missing"]
    assert all(f.missing is Missing.FILL for f in space.features)
    with pytest.raises(InputError, match="column 'age': nan is not a finite number; fill it in"):
        space.row(some.iloc[1])
    for nothing in (None, np.nan, pd.NA):
        values = space.row({"age": nothing, "x": nothing, "home": nothing}, allow_missing=True)
        assert np.isnan(values[:2]).all()
        assert values[2:].tolist() == [0.0, 0.0, 1.0]
    table = space.table(space.inner(some, allow_missing=True))
    assert table["home"].isna().tolist() == some["home"].isna().tolist()
    assert table["age"].isna().tolist() == some["age"].isna().tolist()


def test_large_whole_labels_beside_a_missing_one_are_not_rounded() -> None:
    space = Space((Feature("a", "binary"), Feature("b", "binary")), (Group("g", ("a", "b"), labels=(2**60 + 1, None)),))
    assert space.table(np.eye(2))["g"].tolist()[0] == 2**60 + 1


# ---- remarks ----------------------------------------------------------------------------------------------------------
def test_whole_floats_and_few_rows_are_remarked_upon(frame: pd.DataFrame) -> None:
    rated = frame.assign(rating=[1.0, 2.0, 3.0, 4.0] * 6)
    with pytest.warns(
        ElbowroomWarning, match=r"\['rating'\] hold whole numbers as floats.*integer=\['rating'\]"
    ) as seen:
        Space.from_frame(rated)
    assert [w.filename for w in seen] == [__file__]
    with pytest.warns(ElbowroomWarning, match=r"\['age', 'salary'\] are learned from 3 rows only"):
        Space.from_frame(frame.iloc[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Space.from_frame(rated, integer=["rating"]).features[-1].kind is Kind.INTEGER
        assert Space.from_frame(rated, numeric=["rating"]).features[-1].kind is Kind.NUMERIC
        Space.from_frame(rated, immutable=["rating"])
        Space.from_frame(frame.iloc[:3], bounds="none")


# ---- groups by hand ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Group("g", ("a", "b"), labels=("x",)), "1 labels for 2 members"),
        (lambda: Group("g", ("a", "b"), labels=("x", "x")), "occur more than once"),
        (lambda: Group("g", ("a", "b"), labels=(1, True)), "occur more than once"),
        (lambda: Group("g", ("a", "b"), labels=(None, np.nan)), "occur more than once"),
        (lambda: Group("g", ("a", "b"), labels="xy"), "give a list of categories"),
        (lambda: Group("g", ("a", "b"), labels=("x", (1,))), "is a tuple"),
        (lambda: Group("g", ("a", "b"), pandas_category=True), "needs labels"),
        (lambda: Group("g", ("a", "b"), labels=("x", "y"), pandas_category=1), "True or False"),
        (lambda: _space(Group("g", ("a", "c"), labels=("x", "y"))), "must follow each other"),
        (lambda: _space(Group("g", ("b", "a"), labels=("x", "y"))), "must follow each other"),
        (lambda: _space(Group("c", ("a", "b"), labels=("x", "y"))), "inner column as well"),
        (lambda: _space(Group("g", ("a", "b"), labels=())), "0 labels for 2"),
        (lambda: _space(Group("g", (), labels=())), "at least two"),
    ],
)
def test_bad_groups(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def _space(group: Group) -> Space:
    return Space(tuple(Feature(name, "binary") for name in "abc"), (group,))


def test_inner_names_stay_unique() -> None:
    names = inner_names([("a=x", None), ("a", ("x", "missing", None, "y")), ("a='x'", ("1", 1))])
    assert len({name for part in names for name in part}) == 7
    assert names[1][3] == "a=y"


# ---- the columns of a model -------------------------------------------------------------------------------------------
@dataclass
class Column:
    name: str
    categories: tuple[Category, ...] | None = None
    pandas_category: bool = False


def test_a_space_is_matched_to_the_columns_of_a_model(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame[["age", "housing", "grade"]], immutable=["housing"], weights={"age": 2.0})
    model = [
        Column("grade", ("A", "F", "C"), True),
        Column("age", (20, 21, 99)),
        Column("housing", ("rent", "own", "free")),
    ]
    matched = space.for_columns(model)
    assert matched.columns == ("grade", "age", "housing")
    assert matched.names[:6] == ("grade=A", "grade=F", "grade=C", "age=20", "age=21", "age=99")
    assert matched.upper.tolist() == [1, 0, 1, 1, 1, 0, 1, 1, 1]
    assert [g.weight for g in matched.groups] == [1.0 / 3.0, 2.0, 1.0 / 3.0]
    assert all(f.immutable for f in matched.features[6:])
    assert matched.row({"grade": "C", "age": 21, "housing": "own"}).tolist() == [0, 0, 1, 0, 1, 0, 0, 1, 0]
    with pytest.raises(InputError, match="'B' is not one of its categories"):
        matched.row({"grade": "B", "age": 21, "housing": "own"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([Column("age")], r"columns \['housing'\] that the model does not use"),
        ([Column("age"), Column("housing"), Column("x")], r"the model's columns \['x'\]"),
        ([Column("age"), Column("housing")], "the model takes numbers there"),
        ([Column("age", ("a",)), Column("housing", ("own",))], "the space has numbers"),
        ([Column("age", (21,)), Column("housing", ("castle",))], "none of which is in the space"),
    ],
)
def test_a_space_that_does_not_fit_the_model(frame: pd.DataFrame, columns: list[Column], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(frame[["age", "housing"]]).for_columns(columns)


def test_one_way_numbers_cannot_become_categories(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame[["age"]], increasing=["age"])
    assert space.features[0].direction is Direction.INCREASING
    with pytest.raises(InputError, match="declared increasing"):
        space.for_columns([Column("age", (20, 21))])


# ---- one-hot groups in the table ----------------------------------------------------------------------------------------
@pytest.fixture
def dummies(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(frame[["age", "housing", "grade"]], columns=["housing", "grade"]).assign(
        flag_a=[0, 1] * 12, flag_b=[0, 0, 1] * 8
    )


def test_one_hot_groups_are_found(dummies: pd.DataFrame) -> None:
    space = Space.from_frame(dummies)
    assert [(g.name, g.members, g.labels) for g in space.groups] == [
        ("housing", ("housing_free", "housing_own", "housing_rent"), None),
        ("grade", ("grade_C", "grade_B", "grade_A", "grade_F"), None),
    ]
    table = space.describe().set_index("column")
    assert table.loc["housing", "note"] == "found: one-hot"
    assert table.loc["flag_a", ["kind", "note"]].tolist() == ["yes or no", ""]
    for nothing in (None, {}, []):
        assert Space.from_frame(dummies, one_hot=nothing).groups == ()
    assert Space.from_frame(dummies, immutable=["housing"]).features[1].immutable
    assert Space.from_frame(dummies, weights={"housing": 4.0}).groups[0].weight == 4.0


@pytest.mark.parametrize("mark", list("_=.: /-"))
def test_any_separator_and_the_widest_prefix(mark: str) -> None:
    values = np.eye(3)[np.arange(ROWS) % 3]
    names = [f"home{mark}own{mark}flat", f"home{mark}own{mark}house", f"home{mark}rent"]
    (group,) = Space.from_frame(pd.DataFrame(values, columns=names)).groups
    assert (group.name, group.members) == ("home", tuple(names))


def test_groups_are_not_guessed_where_something_was_said_or_little_is_known(dummies: pd.DataFrame) -> None:
    few = dummies.iloc[:19]
    assert Space.from_frame(few, bounds="none").groups == ()
    assert "housing" not in {g.name for g in Space.from_frame(dummies, integer=["housing_own"]).groups}
    assert "housing" not in {g.name for g in Space.from_frame(dummies, increasing=["housing_own"]).groups}
    twice = dummies.copy()
    twice.loc[3, ["housing_own", "housing_rent"]] = True
    assert "housing" not in {g.name for g in Space.from_frame(twice).groups}
    hole = dummies.astype(float)
    hole.loc[3, "housing_own"] = np.nan
    assert "housing" not in {g.name for g in Space.from_frame(hole).groups}
    named = dummies.assign(housing=1.5)
    assert "housing" not in {g.name for g in Space.from_frame(named).groups}


def test_declared_groups_by_prefix_are_checked_against_the_data(dummies: pd.DataFrame) -> None:
    space = Space.from_frame(dummies, one_hot=["housing"])
    assert [(g.name, len(g.members)) for g in space.groups] == [("housing", 3)]
    with pytest.raises(InputError, match=r"'flag', row 0: its columns \['flag_a', 'flag_b'\] add up to 0, not to 1"):
        Space.from_frame(dummies, one_hot=["flag"])
    dummies.index = pd.Index([f"r{i}" for i in range(ROWS)])
    dummies.loc["r5", ["housing_own", "housing_rent", "housing_free"]] = [True, True, False]
    with pytest.raises(InputError, match=r"group 'housing', row 'r5': .* add up to 2, not to 1 \(1 of 24 rows\)"):
        Space.from_frame(dummies, one_hot={"housing": ["housing_own", "housing_rent", "housing_free"]})
    with pytest.raises(InputError, match=r"no column starts with 'housin_' .*did you mean 'housing'\?"):
        Space.from_frame(dummies, one_hot=["housin"])
    for wrong in ("all", 3, {"a": 3}):
        with pytest.raises(InputError, match="give a mapping from group to its columns"):
            Space.from_frame(dummies, one_hot=wrong)  # type: ignore[arg-type]


# ---- the space in words -------------------------------------------------------------------------------------------------
def test_a_space_is_a_readable_table(frame: pd.DataFrame) -> None:
    bounds = {"salary": (0, np.inf)}
    holes = frame.assign(job=["<b>smith</b>", None, "clerk"] * 8)
    space = Space.from_frame(holes, immutable=["housing"], increasing=["age"], bounds=bounds, units={"salary": "EUR"})
    assert repr(space) == "<Space of 7 columns: 3 numbers, 4 columns of categories; 1 cannot change; scale 'usual'>"
    table = space.describe().set_index("column")
    assert list(table.columns) == ["kind", "values", "scale", "weight", "may change", "missing", "note"]
    assert table.loc["age", ["kind", "values", "may change"]].tolist() == ["whole number", "20 to 43", "may only rise"]
    assert table.loc["salary", "values"] == "at least 0 EUR"
    assert table.loc["housing", ["kind", "values", "may change"]].tolist() == ["categories", "free, own, rent", "no"]
    assert table.loc["job", ["values", "missing"]].tolist() == ["<b>smith</b>, clerk, (missing)", "stays missing"]
    html = space._repr_html_()
    assert "&lt;b&gt;smith" in html
    assert "<b>" not in html
    many = Space.from_frame(frame, categorical=["age"]).describe().set_index("column")
    assert many.loc["age", "values"] == "20, 21, 22, 23, 24, 25, 26, 27 and 16 more"
