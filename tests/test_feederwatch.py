"""Tests of the tasks made of Project FeederWatch's files, on files written here."""

import gzip
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from bnmtl.data import read_feederwatch
from bnmtl.data.feederwatch import REGIONS, is_absent, region_of
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

YARD = [f"yard_type_{name}" for name in ("pavement", "garden", "landsca", "woods", "desert")]
HABITAT = [
    f"hab_{name}"
    for name in (
        *("dcid_woods", "evgr_woods", "mixed_woods", "orchard", "park", "water_fresh"),
        *("water_salt", "residential", "industrial", "agricultural", "desert_scrub"),
        *("young_woods", "swamp", "marsh"),
    )
]
FINE = [f"{plant}_atleast" for plant in ("evgr_trees", "evgr_shrbs", "dcid_trees", "dcid_shrbs")]
FINE.append("fru_trees_atleast")
COARSE = ["brsh_piles_atleast", "water_srcs_atleast", "bird_baths_atleast"]
BINARY = [*YARD, *HABITAT, "nearby_feeders", "squirrels", "cats", "dogs", "humans"]
NEVER = ["loc_id", "subnational1_code", "latitude", "longitude", "n_obs", "fed_yr_round"]


def pair(n=30):
    """Records and sites of a winter: 10 sites with 8, 10 and 14 records each, all in New York.

    Every attribute varies enough. All sites report houfin, even ones daejun, odd ones norcar, the
    first 10 blujay, the first 9 coohaw (each once).
    """
    i = np.arange(n)
    sites = {"loc_id": [f"L{k:03}" for k in i], "proj_period_id": "PFW_2021"}
    sites |= {column: (i + at) % 2 for at, column in enumerate(BINARY)}
    sites |= {column: np.array([0, 1, 3, 4, 11])[i % 5] for column in (*FINE, *COARSE)}
    sites |= {"cacti_atleast": np.array([0, 1, 0, 3, 4, 11])[i % 6]}
    sites |= {"housing_density": 1 + i % 4, "fed_yr_round": i % 2}
    records = []
    for k in range(n):
        birds = ["daejun" if k % 2 == 0 else "norcar"]
        birds += ["blujay"] * (k < 10) + ["coohaw"] * (k < 9)
        birds += ["houfin"] * ((8, 10, 14)[k % 3] - len(birds))
        records += [(f"L{k:03}", bird, (0.001, 1.001, 4.001)[k // 10 % 3], k % 2) for bird in birds]
    columns = ["loc_id", "species_code", "effort_hrs_atleast", "snow_dep_atleast"]
    records = pd.DataFrame(records, columns=columns)
    records = records.assign(subnational1_code="US-NY", valid=1, Month=1, Year=2021)
    return records.astype(object), pd.DataFrame(sites).astype(object)


def read(folder, records, sites, **options):
    records.to_csv(folder / "records.csv", index=False)
    sites.to_csv(folder / "sites.csv", index=False)
    return read_feederwatch(folder / "records.csv", folder / "sites.csv", **options)


def northeast(folder, records, sites, **options):
    (frame,) = read(folder, records, sites, regions=["northeast"], **options).values()
    return frame


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def test_variables_and_states(tmp_path):
    records, sites = pair()
    frame = northeast(tmp_path, records, sites)
    attributes = [*BINARY, *FINE, *COARSE, "cacti_atleast", "housing_density"]
    assert len(attributes) == 34
    species = {"daejun", "norcar", "blujay"}
    assert set(frame) == {*attributes, "snow_seen", "effort", "records", *species}
    assert not set(frame) & set(NEVER) and len(frame) == 30
    states = {column: list(frame[column].cat.categories) for column in frame}
    for column in (*BINARY, "snow_seen", *species):
        assert states[column] == ["0", "1"]
    assert states["housing_density"] == ["1", "2", "3", "4"]
    assert encode({"northeast": frame}).states["records"] == ("8-9", "10-13", "14+")
    for at, column in enumerate(BINARY):
        assert frame[column].tolist() == [str((k + at) % 2) for k in range(30)]
    assert frame["housing_density"].tolist() == [str(1 + k % 4) for k in range(30)]
    assert frame["snow_seen"].tolist() == [str(k % 2) for k in range(30)]
    assert frame["norcar"].tolist() == [str(k % 2) for k in range(30)]
    assert frame["blujay"].tolist() == ["1"] * 10 + ["0"] * 20


def test_counts_are_merged(tmp_path):
    frame = northeast(tmp_path, *pair())
    for column in FINE:
        assert list(frame[column].cat.categories) == ["none", "1-3", "4-10", ">10"]
        assert frame[column].tolist() == ["none", "1-3", "1-3", "4-10", ">10"] * 6
    for column in COARSE:
        assert list(frame[column].cat.categories) == ["none", "1-3", "4+"]
        assert frame[column].tolist() == ["none", "1-3", "1-3", "4+", "4+"] * 6
    assert list(frame["cacti_atleast"].cat.categories) == ["none", "some"]
    assert frame["cacti_atleast"].tolist() == ["none", "some", "none", *["some"] * 3] * 5


def test_borders_of_effort(tmp_path):
    records, sites = pair()
    hours = [0.001, 0.59, 0.6, 1.001, 3, 3.01]
    site = records["loc_id"].str[1:].astype(int)
    records["effort_hrs_atleast"] = [hours[k % 6] for k in site]
    frame = northeast(tmp_path, records, sites)
    assert list(frame["effort"].cat.categories) == ["<0.6", "0.6-3", ">3"]
    assert frame["effort"].tolist() == [*["<0.6"] * 2, *["0.6-3"] * 3, ">3"] * 5


def test_effort_is_the_median_of_the_valid_records_that_tell_it(tmp_path):
    records, sites = pair()
    first = records.index[records["loc_id"] == "L000"]
    records.loc[first, "effort_hrs_atleast"] = [4.001, 4.001, 4.001, 1.5, 1.5, 1.5, "", ""]
    assert northeast(tmp_path, records, sites)["effort"][0] == "0.6-3"
    records.loc[first[3:5], "valid"] = 0
    assert northeast(tmp_path, records, sites, min_records=6)["effort"][0] == ">3"


@pytest.mark.parametrize(
    ("min_records", "states"),
    [
        (1, ["<8", "8-9", "10-13", "14+"]),
        (8, ["8-9", "10-13", "14+"]),
        (9, ["8-9", "10-13", "14+"]),
        (10, ["10-13", "14+"]),
    ],
)
def test_borders_of_records(tmp_path, min_records, states, quiet):
    numbers, names = [7, 8, 9, 10, 13, 14], ["<8", "8-9", "8-9", "10-13", "10-13", "14+"]
    _, sites = pair(60)
    rows = [(f"L{k:03}", numbers[k % 6]) for k in range(60)]
    records = pd.DataFrame([(name, "houfin") for name, n in rows for _ in range(n)])
    records = records.set_axis(["loc_id", "species_code"], axis=1).assign(
        subnational1_code="US-NY",
        valid=1,
        month=12,
        year=2020,
        effort_hrs_atleast=1.001,
        snow_dep_atleast=0,
    )
    frame = northeast(tmp_path, records, sites, min_records=min_records)
    assert list(frame["records"].cat.categories) == states
    expected = [name for n, name in zip(numbers, names, strict=True) if n >= min_records]
    assert frame["records"].tolist() == expected * 10


def test_only_valid_records_count(tmp_path, quiet):
    records, sites = pair()
    plain = northeast(tmp_path, records, sites)
    wrong = records.drop_duplicates("loc_id").assign(
        valid=0, species_code="daejun", effort_hrs_atleast="?", snow_dep_atleast=-5
    )
    many = pd.concat([records, *[wrong] * 9, wrong.assign(valid="", species_code="pilwoo")])
    pd.testing.assert_frame_equal(northeast(tmp_path, many, sites), plain)
    first = records.index[records["loc_id"] == "L000"]
    records.loc[first[0], "valid"] = 0
    assert len(northeast(tmp_path, records, sites)) == 29
    fewer = northeast(tmp_path, records, sites, min_records=7)
    assert fewer["records"][0] == "<8" and fewer["daejun"][0] == "0"


@pytest.mark.parametrize("season_from", ["proj_period_id", "dates"])
def test_seasons_are_separated(tmp_path, season_from):
    records, sites = pair()
    plain = northeast(tmp_path, records, sites)
    other = records.assign(species_code="comred", effort_hrs_atleast=9, Year=2020)
    before = pd.concat([records.assign(Month=12, Year=2020), other.assign(Month=4)])
    if season_from == "proj_period_id":
        before = pd.concat([records.assign(P="PFW_2021"), other.assign(P="PFW_2020")])
        before = before.rename(columns={"P": "PROJ_PERIOD_ID"}).drop(columns=["Year", "Month"])
    elsewhere = sites.assign(proj_period_id="PFW_2020", squirrels=0, hab_park="")
    both = pd.concat([elsewhere, sites, sites.assign(proj_period_id="PFW_2019", squirrels="?")])
    pd.testing.assert_frame_equal(northeast(tmp_path, before, both), plain)
    older = northeast(tmp_path, before, both, season="PFW_2020")
    assert "squirrels" not in older and "effort" not in older and "comred" not in older
    assert older["records"].equals(plain["records"])


def test_a_blank_tick_is_none_unless_all_are_blank(tmp_path):
    records, sites = pair()
    sites.loc[0, [*YARD, *HABITAT[1:]]] = ""
    sites.loc[0, HABITAT[0]] = 1
    sites.loc[2, HABITAT] = ""
    sites.loc[3, YARD] = "NA"
    frame = northeast(tmp_path, records, sites)
    assert len(frame) == 30
    assert frame.loc[0, [*YARD, *HABITAT]].tolist() == [*["0"] * 5, "1", *["0"] * 13]
    assert set(frame.loc[2, HABITAT]) == {"0"} and set(frame.loc[3, YARD]) == {"0"}
    assert set(frame.loc[2, YARD]) == {"0", "1"}
    sites.loc[0, HABITAT[0]] = ""
    with pytest.warns(UserWarning, match="are dropped: 1 of 30 in region `northeast`."):
        assert len(northeast(tmp_path, records, sites)) == 29


def test_rows_with_a_missing_value_are_dropped_and_counted(tmp_path):
    records, sites = pair()
    sites.loc[0, "squirrels"] = ""
    sites.loc[1, ["cacti_atleast", "housing_density"]] = ["NA", ""]
    sites.loc[2, "fed_yr_round"] = ""
    records.loc[records["loc_id"] == "L003", "effort_hrs_atleast"] = ""
    records.loc[records["loc_id"] == "L005", "snow_dep_atleast"] = ""
    with pytest.warns(UserWarning, match="Rows with missing values are dropped: 3 of 30 in") as log:
        frame = northeast(tmp_path, records, sites)
    assert len(log) == 1 and log[0].filename == __file__
    assert list(frame.index) == list(range(27)) and not frame.isna().any(axis=None)
    # Of sites 2, 4, 5, 6, 7 the third says nothing about snow: none was seen.
    assert frame["snow_seen"][:5].tolist() == ["0", "0", "0", "0", "1"]


def test_sites_without_a_description_are_counted(tmp_path):
    records, sites = pair()
    with pytest.warns(UserWarning, match="description in season PFW_2021 are left out: 4 of 30."):
        assert len(northeast(tmp_path, records, sites[4:])) == 26


@pytest.mark.parametrize(
    ("n_rows", "n_differing", "absent"),
    [(30, 9, True), (30, 10, False), (1000, 10, False), (1001, 10, True), (1100, 11, False)],
)
def test_when_a_variable_is_absent(n_rows, n_differing, absent):
    two = np.repeat([0, 1], [n_rows - n_differing, n_differing])
    three = np.repeat([0, 1, 2], [3, n_rows - n_differing, n_differing - 3])
    for codes in (two, three):
        assert is_absent(pd.Series(pd.Categorical.from_codes(codes, ["a", "b", "c"]))) == absent


def test_a_species_is_absent_by_the_complete_rows_of_the_region(tmp_path):
    records, sites = pair(60)
    records.loc[records["loc_id"] >= "L030", "subnational1_code"] = "US-OH"
    sites["squirrels"] = [*[1] * 10, *[0] * 20, *[1] * 9, *[0] * 21]
    tasks = read(tmp_path, records, sites, regions=["northeast", "midwest"])
    assert list(tasks) == ["midwest", "northeast"]
    assert "squirrels" in tasks["northeast"] and "squirrels" not in tasks["midwest"]
    assert "blujay" in tasks["northeast"] and "blujay" not in tasks["midwest"]
    sites.loc[0, "cats"] = ""
    with pytest.warns(UserWarning, match="dropped"):
        assert "squirrels" not in read(tmp_path, records, sites, regions={"northeast"})["northeast"]


def test_species_are_those_at_most_sites_everywhere(tmp_path, quiet):
    records, sites = pair()
    plain = northeast(tmp_path, records, sites, n_species=0)
    assert "records" not in plain and "houfin" not in plain and len(plain.columns) == 36
    # daejun and norcar are at 15 sites each; many records at few sites do not count.
    assert "norcar" not in northeast(tmp_path, records, sites, n_species=2)
    assert "blujay" not in northeast(tmp_path, records, sites, n_species=3)
    again = records[records["species_code"] == "blujay"]
    assert "blujay" not in northeast(
        tmp_path, pd.concat([records, *[again] * 5]), sites, n_species=3
    )
    # A site in no region, with one record and without a description counts for norcar.
    far = records[:1].assign(loc_id="L999", species_code="norcar", subnational1_code="US-AK")
    frame = northeast(tmp_path, pd.concat([records, far]), sites, n_species=2)
    assert "norcar" in frame and "daejun" not in frame


def test_regions_are_those_of_the_definition():
    definition = """
    california US-CA; canada_east CA-NB NS ON PE QC; canada_prairie CA-AB MB SK; midwest US-IA IL IN
    MI MN MO OH WI; mountain US-AZ CO ID MT NM NV UT WY; northeast US-CT MA ME NH NJ NY PA RI VT;
    pacific_nw CA-BC US-OR WA; plains US-KS ND NE OK SD TX; southeast US-AL AR DC DE FL GA KY LA MD
    MS NC SC TN VA WV"""
    expected, country = {}, ""
    for line in definition.split(";"):
        name, *codes = line.split()
        for code in codes:
            country = code[:3] if "-" in code else country
            expected[country + code[-2:]] = name
    assert {state: name for name, states in REGIONS.items() for state in states} == expected
    others = ["US-AK", "US-HI", "CA-YT", "CA-NL", "XX-", None]
    assert region_of(pd.Series(others)).isna().all()
    assert region_of(pd.Series(["US-NY", "CA-BC"])).tolist() == ["northeast", "pacific_nw"]


def test_regions_out_of_files(tmp_path):
    records, sites = pair(85)
    site = records["loc_id"].str[1:].astype(int)
    records["subnational1_code"] = [("CA-BC", "US-CA", "US-AK", "US-TX")[k // 25] for k in site]
    with pytest.warns(UserWarning, match="left out: `canada_e.*`, `plains`, `southeast`.") as log:
        tasks = read(tmp_path, records, sites)
    assert len(log) == 1
    assert {name: len(frame) for name, frame in tasks.items()} == {
        "california": 25,
        "pacific_nw": 25,
    }
    assert encode(tasks).states["effort"] == ("<0.6", "0.6-3", ">3")
    assert list(read(tmp_path, records, sites, regions=("pacific_nw",))) == ["pacific_nw"]
    with pytest.raises(ValueError, match="`plains` has 10 complete sites and no such variable"):
        read(tmp_path, records, sites, regions=["pacific_nw", "plains"])


def test_order_of_rows_and_columns_case_and_gzip_do_not_matter(tmp_path):
    records, sites = pair()
    hours = [0.001, *[1.001] * 9, *[4.001] * 5]
    records["effort_hrs_atleast"] = [hours[k % 15] for k in range(len(records))]
    plain = northeast(tmp_path, records, sites)
    records = records.sample(frac=1, random_state=0)[sorted(records, reverse=True)]
    sites = sites.sample(frac=1, random_state=1)[sorted(sites)].rename(columns=str.upper)
    for name, table in {"r.csv.gz": records, "s.csv.gz": sites}.items():
        (tmp_path / name).write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    again = read_feederwatch(
        str(tmp_path / "r.csv.gz"), tmp_path / "s.csv.gz", regions=["northeast"]
    )
    pd.testing.assert_frame_equal(again["northeast"], plain)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"season": "2021"}, ValueError, "`season` must be PFW_ and a year.*got '2021'"),
        ({"season": 2021}, TypeError, "`season` must be a text such as 'PFW_2021', got int"),
        (
            {"season": "PFW_2019"},
            ValueError,
            "records.csv`: `observations` must .* of `season` PFW_2019",
        ),
        ({"regions": ["alaska"]}, ValueError, "`regions` must be among `calif.*got 'alaska'"),
        ({"regions": [["plains"]]}, ValueError, "`regions` must be among"),
        ({"regions": []}, ValueError, "`regions` must name at least one region"),
        ({"regions": "plains"}, TypeError, "`regions` must be a list of names or None, got str"),
        ({"regions": ["plains"]}, ValueError, "`plains` has 0 complete sites"),
        ({"min_records": 0}, ValueError, "`min_records` must be .* of at least 1, got 0; 8 is"),
        ({"min_records": 8.0}, ValueError, "`min_records` must be a whole number .*, got 8.0"),
        (
            {"min_records": 15},
            ValueError,
            "records.csv`: `min_records`.*has more than 14 valid records .*, got 15",
        ),
        ({"min_records": 14}, ValueError, "`northeast` has 10 complete sites and no such variable"),
        ({"n_species": -1}, ValueError, "`n_species` must be .* of at least 0, got -1; 40 is"),
        ({"n_species": True}, TypeError, "`n_species` must be a whole number .*, got True"),
    ],
)
def test_wrong_arguments_are_one_sentence(tmp_path, options, error, message):
    with pytest.raises(error, match=message) as caught:
        read(tmp_path, *pair(), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "rows", "column", "value", "message"),
    [
        ("records", 3, "valid", 2, "records.csv`: column `valid` must be blank or 0 or 1, got `2`"),
        ("records", 3, "valid", "yes", "records.csv`: column `valid` must hold numbers, got `yes`"),
        ("records", slice(None), "valid", 0, "records.csv`: `observations` must .*; it has none"),
        ("records", 3, "effort_hrs_atleast", "x", "column `effort_hrs_atleast` must hold numbers"),
        (
            "records",
            3,
            "effort_hrs_atleast",
            -1,
            "`effort_hrs_atleast` must not be .*, got -1 in",
        ),
        (
            "records",
            3,
            "snow_dep_atleast",
            -0.5,
            "`snow_dep_atleast` must not be .*, got -0.5 in",
        ),
        ("records", 3, "loc_id", "", "records.csv`: column `loc_id` must be filled"),
        ("records", 3, "species_code", "", "records.csv`: column `species_code` must be filled"),
        ("records", 3, "subnational1_code", "US-MA", "`subnational1_code`.*got several for `L000`"),
        (
            "sites",
            3,
            "hab_park",
            7,
            "sites.csv`: column `hab_park` must be blank or 0 or 1, got `7`",
        ),
        ("sites", 3, "squirrels", "inf", "column `squirrels` must hold numbers, got `inf`"),
        ("sites", 3, "evgr_trees_atleast", 2, "blank or 0, 1, 3, 4 or 11, got `2`"),
        ("sites", 3, "loc_id", "L001", "sites.csv`: column `loc_id`.*once.*got `L001` blank or"),
        ("sites", 3, "loc_id", "", "sites.csv`: column `loc_id` must name"),
        ("sites", slice(None), "loc_id", [f"S{k}" for k in range(30)], "none of the 30 sites"),
        (
            "sites",
            slice(None),
            "proj_period_id",
            "PFW_2020",
            "sites.csv`: `sites` must .* `season` PFW_2021; it has no",
        ),
        ("sites", slice(None), "cacti_atleast", "", "`northeast` has 0 complete sites"),
    ],
)
def test_wrong_values_are_named(tmp_path, table, rows, column, value, message, quiet):
    records, sites = pair()
    frame = {"records": records, "sites": sites}[table]
    frame.loc[rows, column] = value
    with pytest.raises(ValueError, match=message) as caught:
        northeast(tmp_path, records, sites)
    assert "\n" not in str(caught.value)


def test_wrong_files_are_named(tmp_path):
    records, sites = pair()
    read(tmp_path, records, sites, regions=["northeast"])
    right = tmp_path / "records.csv", tmp_path / "sites.csv"
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(right[0].read_bytes())[:-20])
    (tmp_path / "twice.csv").write_text("loc_id,LOC_ID\n1,2\n")
    for files, message in [
        (
            right[::-1],
            "sites.csv`: `observations` must be.* it has no columns `subnational1_code`, ",
        ),
        (
            (right[0], right[0]),
            "records.csv`: `sites` must be FeederWatch's site description file; it",
        ),
        ((tmp_path / "none.csv", right[1]), "File `.*none.csv` does not exist"),
        ((tmp_path, right[1]), "does not exist"),
        ((tmp_path / "empty.csv", right[1]), "`.*empty.csv` cannot be read as CSV"),
        ((tmp_path / "broken.csv.gz", right[1]), "`.*broken.csv.gz` cannot be read as CSV"),
        ((tmp_path / "twice.csv", right[1]), "`.*twice.csv` must have different columns, got `loc"),
    ]:
        with pytest.raises(ValueError, match=message) as caught:
            read_feederwatch(*files)
        assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="`sites` must be the path of FeederWatch's.*got DataFrame"):
        read_feederwatch(right[0], sites)
    for column in ("snow_dep_atleast", "Year"):
        with pytest.raises(ValueError, match="no column|neither the column"):
            read(tmp_path, records.drop(columns=column), sites)
    with pytest.raises(
        ValueError, match=r"sites.csv`: `sites` must .* no column `hab_marsh`: check"
    ):
        read(tmp_path, records, sites.drop(columns="hab_marsh"))


def test_importing_the_catalogue_stays_light():
    heavy = {"sklearn", "matplotlib", "pgmpy", "numba", "scipy", "networkx", "joblib"}
    code = f"import sys, bnmtl.data; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
