"""Conversion of the public files of Project FeederWatch to one table per region."""

import re

import numpy as np
import pandas as pd

from bnmtl.data.columns import numbers_in, read_columns
from bnmtl.errors import InputError, InputTypeError, check_whole, located, warn
from bnmtl.wording import count, listed, one_of, type_of

_STATES = {
    "california": "US-CA",
    "canada_east": "CA-NB CA-NS CA-ON CA-PE CA-QC",
    "canada_prairie": "CA-AB CA-MB CA-SK",
    "midwest": "US-IA US-IL US-IN US-MI US-MN US-MO US-OH US-WI",
    "mountain": "US-AZ US-CO US-ID US-MT US-NM US-NV US-UT US-WY",
    "northeast": "US-CT US-MA US-ME US-NH US-NJ US-NY US-PA US-RI US-VT",
    "pacific_nw": "CA-BC US-OR US-WA",
    "plains": "US-KS US-ND US-NE US-OK US-SD US-TX",
    "southeast": "US-AL US-AR US-DC US-DE US-FL US-GA US-KY US-LA US-MD US-MS US-NC US-SC US-TN "
    "US-VA US-WV",
}
# States and provinces of every region; others are in no region.
REGIONS = {region: tuple(states.split()) for region, states in _STATES.items()}

_TICKED = {0: "0", 1: "1"}
_COUNTED = {0: "none", 1: "1-3", 3: "1-3", 4: "4-10", 11: ">10"}
_FEW = {0: "none", 1: "1-3", 3: "1-3", 4: "4+", 11: "4+"}
_SOME = {0: "none", 1: "some", 3: "some", 4: "some", 11: "some"}
_TICK_BOXES = (
    *(f"yard_type_{yard}" for yard in ("pavement", "garden", "landsca", "woods", "desert")),
    *(f"hab_{woods}_woods" for woods in ("dcid", "evgr", "mixed", "young")),
    *("hab_orchard", "hab_park", "hab_water_fresh", "hab_water_salt", "hab_residential"),
    *("hab_industrial", "hab_agricultural", "hab_desert_scrub", "hab_swamp", "hab_marsh"),
)
_VEGETATION = ("evgr_trees", "evgr_shrbs", "dcid_trees", "dcid_shrbs", "fru_trees")
# The state for every number in a column of the site description file.
ATTRIBUTES = {
    **dict.fromkeys(_TICK_BOXES, _TICKED),
    **dict.fromkeys((f"{plant}_atleast" for plant in _VEGETATION), _COUNTED),
    **dict.fromkeys(("brsh_piles_atleast", "water_srcs_atleast", "bird_baths_atleast"), _FEW),
    "cacti_atleast": _SOME,
    **dict.fromkeys(("nearby_feeders", "squirrels", "cats", "dogs", "humans"), _TICKED),
    "housing_density": {1: "1", 2: "2", 3: "3", 4: "4"},
}
_EFFORT = ("<0.6", "0.6-3", ">3")
_RECORDS = ("<8", "8-9", "10-13", "14+")
_RECORDS_FROM = (8, 10, 14)

_IDENTITY = ("loc_id", "subnational1_code", "species_code", "valid")
_MEASURED = ("effort_hrs_atleast", "snow_dep_atleast")


def read_feederwatch(
    observations, sites, season="PFW_2021", regions=None, min_records=8, n_species=40
):
    """Read the sites of one winter of Project FeederWatch as one task per region.

    A row is a site. Its variables are 34 attributes from the site description file (5
    `yard_type_*`, 14 `hab_*`, 9 `*_atleast`, `nearby_feeders`, `squirrels`, `cats`, `dogs`,
    `humans`, `housing_density`), `snow_seen` and `effort` from the records of the site, and with
    species also `records` and one variable per species, named by its code. Not used: `loc_id`
    (except to join), state, latitude, longitude, the plain number of records, and `fed_*`.

    Parameters
    ----------
    observations : path
        File of records (checklists), CSV, gzip allowed. Names of columns may be in either case.
        Only records with `valid` equal to 1 are used. Without a column `proj_period_id`, `year` and
        `month` determine the season of a record (winter 2020-21 is `PFW_2021`).
    sites : path
        Site description file, CSV, gzip allowed, joined on `loc_id` for rows with `proj_period_id`
        of the season. Sites without a description are excluded, with a warning that counts them.
    season : str, default="PFW_2021"
        PFW_ and the year in which the winter ends.
    regions : list of str, optional
        Some of california, canada_east, canada_prairie, midwest, mountain, northeast, pacific_nw,
        plains, southeast; `bnmtl.data.feederwatch.REGIONS` lists the states of each. Alaska,
        Hawaii, Yukon and all others are in no region. Default: all regions with a complete site and
        a variable.
    min_records : int, default=8
        Minimum number of valid records of a site.
    n_species : int, default=40
        Number of species: those reported at the most sites over all sites with valid records in
        that season, in any region and with or without a description; ties by code.

    Returns
    -------
    dict of str to pandas.DataFrame
        Categorical columns with the same declared states in all regions, ready for
        `bnmtl.tasks.encode`. Regions are sorted, and rows are in the order of `loc_id` (numbered
        from 0), independent of the order in the files.

    Raises
    ------
    InputTypeError
        If an argument has a wrong type.
    InputError
        For files that are missing, unreadable, swapped, lack a column or contain values other than
        those of FeederWatch; for an invalid season, region or number; and if a region has no
        complete site or no variable.

    Warns
    -----
    InputWarning
        For sites without a description, rows with missing values and excluded regions.

    Notes
    -----
    - Ticks (`yard_type_*`, `hab_*`): 0 or 1. A blank counts as 0, unless all 19 are blank.
    - `*_atleast`: "none", "1-3", "4-10", ">10" (the rare 3 is merged into "1-3");
      `water_srcs`, `bird_baths` and `brsh_piles`, thin at the top: "none", "1-3", "4+"; `cacti`:
      "none", "some". `housing_density`: "1" to "4". Other attributes: 0 or 1.
    - `snow_seen` is 1 if a valid record reports snow, otherwise 0, also if no record reports the
      depth.
    - `effort`, the median over the valid records of a site of the minimum hours of counting:
      "<0.6", "0.6-3", ">3".
    - `records`, the number of valid records: "8-9", "10-13", "14+", preceded by "<8" if
      `min_records` allows it, without the states that it excludes.
    - A species is 1 if a valid record reports it, otherwise 0.
    - Rows with a missing value are dropped, with a warning that counts them.
    - Then a variable is dropped from a region if fewer than max(10, 1 %) of its rows differ from
      the most common state: vagrant birds leave one or two records. Split into training and test
      sets only afterwards, so that all splits have the same variables.

    Public samples contain only some of the records; the TidyTuesday sample has about 3 % of those
    of a winter. There, 0 for a species means "not in the sample", not absence, and the number of
    species seen at a site with 8 records or more has a correlation of 0.69 with the number of its
    records. Arcs between species are then partly an artifact of the sample, which `records`
    explains only in part. Site attributes are not sampled. With a complete file most sites should
    have 14 records or more, and `records` may be dropped everywhere.

    Examples
    --------
    With the files of winter 2020-21 in the working directory::

        from bnmtl import MultitaskLearnerCV, data

        tasks = data.read_feederwatch("PFW_2021_public.csv", "PFW_count_site_data_public_2021.csv")
        learner = MultitaskLearnerCV(random_state=0).fit(tasks)
    """
    _check_season(season)
    names = _checked_regions(regions)
    check_whole("min_records", min_records, 1, remedy="8 is usual")
    check_whole("n_species", n_species, 0, remedy="40 is usual")
    records = _read_records(observations, season)
    summaries = _summaries(records)
    species = _commonest(records, n_species)
    attributes = _read_attributes(sites, season)
    rows = _joined(summaries, attributes.index, min_records, season, observations, sites)
    for code in species:
        rows[code] = rows.index.isin(records["loc_id"][records["species_code"] == code])
    parts = [attributes.loc[rows.index], observed(rows, species, min_records)]
    region = region_of(rows["subnational1_code"])
    return _usable(by_region(pd.concat(parts, axis=1), region, names), regions is not None)


def described(table, path):
    """Return the states of the site attributes in columns of `read_columns`.

    Blank yard types and habitats count as not ticked, unless all of them are blank.
    """
    columns = {}
    empty = table[list(_TICK_BOXES)].isna().all(axis=1)
    for variable, states in ATTRIBUTES.items():
        with located(file=path, column=variable):
            values = numbers_in(table[variable])
            if variable in _TICK_BOXES:
                values = np.where(np.isnan(values) & ~empty, 0, values)
            columns[variable] = _stated(values, states)
    return pd.DataFrame(columns, index=table.index)


def _stated(values, states):
    """Return the states of numbers; nan is missing."""
    wrong = sorted(set(values[~np.isnan(values)]) - set(states))
    if wrong:
        given = listed((f"{value:g}" for value in wrong), limit=3)
        raise InputError(f"must be blank or {one_of(states)}, got {given}", remedy="correct it")
    declared = list(dict.fromkeys(states.values()))
    codes = np.full(len(values), -1)
    for number, state in states.items():
        codes[values == number] = declared.index(state)
    return pd.Categorical.from_codes(codes, declared)


def observed(rows, species=(), min_records=1):
    """Return the states of the site variables computed from records.

    `rows` contains `snow_seen` (0 or 1), `median_effort` (hours), and with species `n_obs` (number
    of valid records, at least `min_records`) and a column of 0 and 1 for each.
    """
    hours = rows["median_effort"].to_numpy(dtype=float)
    codes = np.where(np.isnan(hours), -1, (hours >= 0.6) + 1 * (hours > 3))
    columns = {
        "snow_seen": _stated(rows["snow_seen"].to_numpy(dtype=float), _TICKED),
        "effort": pd.Categorical.from_codes(codes, _EFFORT),
    }
    if len(species):
        first = np.searchsorted(_RECORDS_FROM, min_records, side="right")
        codes = np.searchsorted(_RECORDS_FROM, rows["n_obs"], side="right") - first
        columns["records"] = pd.Categorical.from_codes(codes, _RECORDS[first:])
    for code in species:
        with located(column=code):
            columns[code] = _stated(rows[code].to_numpy(dtype=float), _TICKED)
    return pd.DataFrame(columns, index=rows.index)


def region_of(states):
    """Return the region of every state or province, missing for those in no region."""
    regions = {state: region for region, states in REGIONS.items() for state in states}
    return states.astype(object).map(regions)


def by_region(frame, region, names):
    """Return the complete rows of some regions, without the variables absent there.

    `frame` contains the states of sites by `loc_id`, the order of the returned rows; `region` is
    the region of every row. Returned frames may have no rows or no columns.
    """
    tasks, dropped = {}, []
    for name in sorted(names):
        rows = frame[(region == name).to_numpy()].sort_index()
        complete = rows.dropna().reset_index(drop=True)
        if len(complete) < len(rows):
            dropped.append(f"{len(rows) - len(complete)} of {len(rows)} in region `{name}`")
        tasks[name] = complete[[c for c in complete if not is_absent(complete[c])]]
    if dropped:
        warn(f"Rows with missing values are dropped: {', '.join(dropped)}")
    return tasks


def is_absent(column):
    """Whether fewer than max(10, 1 %) of the rows differ from the most common state."""
    n_differing = len(column) - column.value_counts().max()
    return 100 * n_differing < max(1000, len(column))


def _check_season(season):
    if not isinstance(season, str):
        message = f"must be a text such as 'PFW_2021', got {type_of(season)}"
        raise InputTypeError(message, argument="season")
    if not re.fullmatch("PFW_[0-9]{4}", season):
        message = f"must be PFW_ and a year, such as 'PFW_2021' for 2020-21, got {season!r}"
        raise InputError(message, argument="season")


def _checked_regions(regions):
    if regions is None:
        return list(REGIONS)
    if not isinstance(regions, list | tuple | set | frozenset):
        message = f"must be a list of names or None, got {type_of(regions)}"
        remedy = "for example ['midwest', 'plains']"
        raise InputTypeError(message, argument="regions", remedy=remedy)
    if not regions:
        raise InputError("must name at least one region; it is empty", argument="regions")
    for name in sorted(regions, key=str):
        if not isinstance(name, str) or name not in REGIONS:
            raise InputError(f"must be among {listed(REGIONS)}, got {name!r}", argument="regions")
    return sorted(set(regions))


def _read_records(path, season):
    """Return the valid records of a season, one per row."""
    table = read_columns(
        path,
        (*_IDENTITY, *_MEASURED),
        ("proj_period_id", "year", "month"),
        "observations",
        "FeederWatch's file of records",
    )
    with located(file=path):
        with located(column="valid"):
            valid = _stated(numbers_in(table["valid"]), _TICKED)
        records = table[(valid == "1") & _is_of(table, season)].reset_index(drop=True)
        if records.empty:
            message = f"must hold records of `season` {season} whose `valid` is 1; it has none"
            place, remedy = {"argument": "observations"}, "give the season that it is of"
            raise InputError(message, **place, options=("season",), remedy=remedy)
        for column in _MEASURED:
            records[column] = _numbers(records, column)
        _check_records(records)
    return records


def _numbers(table, column):
    with located(column=column):
        return numbers_in(table[column])


def _check_records(records):
    for column in ("loc_id", "species_code"):
        if records[column].isna().any():
            message = "must be filled in every valid record; it is blank in some"
            raise InputError(message, column=column, remedy="remove them")
    for column in ("effort_hrs_atleast", "snow_dep_atleast"):
        if (records[column] < 0).any():
            message = f"must not be below 0, got {records[column].min():g} in a valid record"
            raise InputError(message, column=column, remedy="correct it, or make it blank")
    places = records.groupby("loc_id", observed=True)["subnational1_code"].nunique()
    if (places > 1).any():
        site = min(map(str, places.index[places > 1]))
        message = f"must be the same in all records of a site, got several for `{site}`"
        raise InputError(message, column="subnational1_code", remedy="correct them")


def _is_of(table, season):
    """Whether each record is from a season; July begins the next one."""
    if "proj_period_id" in table:
        return (table["proj_period_id"] == season).to_numpy()
    if "year" not in table or "month" not in table:
        found = "it has neither the column `proj_period_id` nor both `year` and `month`"
        raise InputError(f"must have the season of its records; {found}")
    year, month = _numbers(table, "year"), _numbers(table, "month")
    return year + (month >= 7) == int(season.removeprefix("PFW_"))


def _summaries(records):
    """Return the summary of the records of every site, by `loc_id`."""
    rows = records.groupby("loc_id", observed=True).agg(
        subnational1_code=("subnational1_code", "first"),
        n_obs=("species_code", "size"),
        snow_seen=("snow_dep_atleast", "max"),
        median_effort=("effort_hrs_atleast", "median"),
    )
    return rows.assign(snow_seen=rows["snow_seen"] > 0).set_axis(rows.index.astype(object))


def _commonest(records, n_species):
    """Return the species reported at the most sites, ties by code."""
    n_sites = records.groupby("species_code", observed=True)["loc_id"].nunique()
    return sorted(map(str, n_sites.index), key=lambda code: (-n_sites[code], code))[:n_species]


def _read_attributes(path, season):
    """Return the states of the sites described in a season, by `loc_id`."""
    table = read_columns(
        path,
        ("loc_id", "proj_period_id", *ATTRIBUTES),
        argument="sites",
        meaning="FeederWatch's site description file",
    )
    table = table[(table["proj_period_id"] == season).to_numpy()]
    if table.empty:
        message = f"must describe sites of `season` {season}"
        message += "; it has no row with that `proj_period_id`"
        raise InputError(message, argument="sites", file=path, options=("season",))
    table = table.set_axis(pd.Index(table["loc_id"].astype(object)))
    twice = table.index[table.index.duplicated() | table.index.isna()]
    if len(twice):
        names = listed(sorted(map(str, set(twice))), limit=3)
        message = f"must name a site once in season {season}, got {names} blank or again"
        raise InputError(message, file=path, column="loc_id", remedy="remove such rows")
    return described(table, path)


def _joined(summaries, known, min_records, season, observations, sites):
    """Return the summaries of the sites with enough records and a description."""
    enough = summaries[summaries["n_obs"] >= min_records]
    if enough.empty:
        most = count(int(summaries["n_obs"].max()), "valid record")
        rule = f"must leave sites, and no site has more than {most} in season {season}"
        message = f"{rule}, got {min_records!r}"
        raise InputError(message, argument="min_records", file=observations)
    rows = enough[enough.index.isin(known)].copy()
    if rows.empty:
        message = (
            f"must describe the sites of `observations`; none of the {len(enough)} sites of file "
            f"`{observations}` is in column `loc_id` in season {season}"
        )
        raise InputError(message, argument="sites", file=sites, options=("observations",))
    if len(rows) < len(enough):
        n_left_out = f"{len(enough) - len(rows)} of {len(enough)}"
        warn(f"Sites without a description in season {season} are left out: {n_left_out}")
    return rows


def _usable(tasks, required):
    """Return the regions with rows and variables; raise for others if all are required."""
    useless = [name for name, frame in tasks.items() if frame.empty]
    if useless and (required or len(useless) == len(tasks)):
        name = max(useless, key=lambda name: len(tasks[name]))
        message = (
            f"must have complete sites and variables that differ among them; `{name}` has "
            f"{count(len(tasks[name]), 'complete site')} and no such variable"
        )
        raise InputError(
            message,
            argument="regions",
            options=("min_records",),
            remedy="leave it out, or lower `min_records`",
        )
    if useless:
        warn(f"Regions without sites or variables to learn from are left out: {listed(useless)}")
    return {name: frame for name, frame in tasks.items() if not frame.empty}
