"""Tables 6.1 - 6.4 and 7.1 - 7.4 of Melville's thesis from the curves of strategies, and claims."""

from collections import defaultdict
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.stats import binomtest, wilcoxon

from benchmarks.claims import Claim, alike, claims_table
from benchmarks.study import with_plain_strings
from benchmarks.summary import LEVEL, markdown, mean_and_error
from bnmtl import plotting
from bnmtl.active import data_utilization, improvement

RANDOM, SQUARED = "random, DECORATE", "random, DECORATE by squared error"
DECORATE = "ActiveDecorate"
LABELS, PROBABILITIES, EARLY = "classification", "probabilities", "early"
JS = "ActiveDecorate by divergence"
ASKERS = ("query by bagging", "query by boosting", DECORATE)
MIXED = ("bagging asks for DECORATE", "boosting asks for DECORATE", DECORATE)
# Learners for which DECORATE asks, beside random cases for the same learner.
ASKED_FOR = ("bagging", "boosting", "tree")
ASKS_FOR = {f"DECORATE asks for {name}": f"random, {name}" for name in ASKED_FOR}
TOP = 0.2
# Percent of the error, and of the labels; smaller differences do not count.
NEAR, LABELS_NEAR = 2, 20
MEASURES = {"squared_error": "squared error", "lift_chart_area": "lift area"}
# Comparisons of chapter 7: strategy, reference, title.
COMPARED = (
    (DECORATE, RANDOM, "margins against random"),
    ("ActiveDecorateJS", SQUARED, "ActiveDecorateJS against random"),
    ("ActiveDecorateJS", DECORATE, "ActiveDecorateJS against margins"),
    ("BootstrapJS", "random, bagged trees", "BootstrapJS against random"),
    ("BootstrapJS", "BootstrapLV", "BootstrapJS against LV"),
    ("BootstrapJS", "BootstrapLVExt", "BootstrapJS against LV-EXT"),
    ("BootstrapJS", "ActiveDecorateJS", "BootstrapJS against ActiveDecorateJS"),
)
# What the ensembles that predict differ by if none asks.
PREDICTING = (
    (SQUARED, RANDOM, "random cases: rejection by squared error against by errors"),
    (
        "random, bagged trees",
        SQUARED,
        "random cases: bagged trees against rejection by squared error",
    ),
)


def long(lines, part):
    """Curves as `run_experiment` returns them."""
    columns = defaultdict(list)
    for line in lines[lines["part"] == part].to_dict("records"):
        n_trials, sizes = len(line["error"]), line["n_labels"]
        size = n_trials * len(sizes)
        trials = np.arange(n_trials) + n_trials * line["repeat"]
        columns["trial"].append(np.repeat(trials, len(sizes)))
        columns["n_labels"].append(np.tile(sizes, n_trials))
        for name in ("error", *MEASURES):
            known = np.ravel(line[name]) if isinstance(line.get(name), list) else np.nan
            columns[name].append(np.broadcast_to(known, size))
        columns["data"].append(np.full(size, line["table"], object))
        columns["strategy"].append(np.full(size, line["strategy"], object))
        # With ten folds a test part is a ninth of its pool.
        columns["n_pool"].append(np.full(size, n_trials - 1))
    curves = pd.DataFrame({name: np.concatenate(of_lines) for name, of_lines in columns.items()})
    return with_plain_strings(curves).assign(n_test=1)


def tables(lines):
    """All tables as Markdown, by name; those without lines are left out."""
    found = {}
    if not len(lines):
        return found
    curves = {part: long(lines, part) for part in lines["part"].unique()}
    improvements = _by_part(curves)
    if LABELS in curves:
        found["decorate_queries_labels"] = markdown(_needed(curves[LABELS]))
        found["decorate_queries_errors"] = markdown(_reductions(curves[LABELS]))
        mixed = curves[LABELS][curves[LABELS]["strategy"].isin(MIXED[:2])]
        if len(mixed):
            found["decorate_queries_mixed"] = markdown(_mixed(curves[LABELS], mixed))
        asking = curves[LABELS][curves[LABELS]["strategy"].isin([*ASKS_FOR, *ASKS_FOR.values()])]
        if len(asking):
            found["decorate_queries_asking"] = markdown(_asking(asking))
    for part in (PROBABILITIES, EARLY):
        if part in curves:
            found[f"decorate_queries_{part}"] = markdown(_records(improvements[part]))
    if PROBABILITIES in curves:
        found["decorate_queries_by_table"] = markdown(_by_table(improvements[PROBABILITIES]))
    found["decorate_queries_claims"] = claims_table(claims(curves, improvements))
    return found


def _needed(curves):
    """Tables 6.1 and 6.3: labels needed for the target error, and their ratio."""
    by = data_utilization(curves, RANDOM)
    rows = []
    for data, part in by.groupby("data", sort=False):
        part = part.set_index("strategy")
        row = {"table": data, "target error": f"{part['target_error'].iloc[0]:.3f}"}
        for name in (RANDOM, *ASKERS, JS):
            if name in part.index:
                labels, ratio = part.loc[name, ["labels", "ratio"]]
                row[name] = "-" if np.isnan(labels) else f"{labels:.0f} ({ratio:.2f})"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _reductions(curves):
    """Table 6.2: percent reduction of the error over random cases, at the best fifth and in all."""
    rows = []
    top, whole = (improvement(curves, RANDOM, top=share) for share in (TOP, 1.0))
    for data, part in top.groupby("data", sort=False):
        row = {"table": data}
        for name in (*ASKERS, JS):
            cells = []
            for found in (part, whole[whole["data"] == data]):
                line = found[found["strategy"] == name]
                if len(line):
                    star = "*" if line["p_corrected"].iloc[0] < LEVEL else ""
                    cells.append(f"{line['percent'].iloc[0]:.1f}{star}")
            row[name] = ", ".join(cells)
        rows.append(row)
    return pd.DataFrame(rows)


def _asking(curves):
    """Reduction of the errors of other learners if DECORATE asks for them."""
    rows = {}
    for name, reference in ASKS_FOR.items():
        pair = curves[curves["strategy"].isin([name, reference])]
        if pair["strategy"].nunique() == 2:
            for line in improvement(pair, reference).to_dict("records"):
                star = "*" if line["p_corrected"] < LEVEL else ""
                row = rows.setdefault(line["data"], {"table": line["data"]})
                row[name] = f"{line['percent']:.1f}{star}"
    return pd.DataFrame(rows.values()).fillna("")


def _mixed(curves, mixed):
    """Table 6.4: mean reduction of DECORATE's error by who asks."""
    rows = []
    for data, part in mixed.groupby("data", sort=False):
        end = part["n_labels"].max()
        same = curves[(curves["data"] == data) & (curves["n_labels"] <= end)]
        found = improvement(same, RANDOM).set_index("strategy")["percent"]
        cells = {name: f"{found[name]:.1f}" for name in MIXED if name in found}
        rows.append({"table": data, "labels at the end": end} | cells)
    return pd.DataFrame(rows)


def signs(found):
    """By table: 1 if a strategy is significantly better than a reference, -1 if worse, else 0.

    Parameters
    ----------
    found : pandas.DataFrame
        As from `improvements_of`.

    Returns
    -------
    (list of int, list of int, list of float)
        The signs as published; those corrected for training cases that folds share; and the mean
        improvements in percent.
    """
    made, corrected = (
        np.where(found[p] < LEVEL, np.sign(found["difference"]), 0).astype(int).tolist()
        for p in ("p", "p_corrected")
    )
    return made, corrected, found["percent"].tolist()


def _by_part(curves):
    """`improvements_of` of each part; tables and claims ask for many of them twice."""
    return {part: cache(partial(improvements_of, of_part)) for part, of_part in curves.items()}


def improvements_of(curves, strategy, reference, measure):
    """The `improvement` by a strategy on each table that has its curve and the reference's."""
    with_it, with_other = (
        curves.loc[curves["strategy"] == one, "data"].unique() for one in (strategy, reference)
    )
    shared = curves["data"].isin(np.intersect1d(with_it, with_other))
    some = curves[shared & curves["strategy"].isin([strategy, reference])]
    if not len(some):
        return pd.DataFrame(columns=["data", "percent", "difference", "p", "p_corrected"])
    return improvement(some, reference, measure=measure)


def _records(improvements):
    """Tables 7.1 - 7.4: wins, draws and losses over tables, and the mean improvement."""
    rows = []
    for strategy, reference, title in (*COMPARED, *PREDICTING):
        row = {"comparison": title}
        for measure, name in MEASURES.items():
            made, corrected, percents = signs(improvements(strategy, reference, measure))
            if made:
                mean = f"{np.mean(percents):+.1f} %"
                row[name] = f"{_record(made)}, corrected {_record(corrected)}, {mean}"
        if len(row) > 1:
            rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _by_table(improvements):
    """Tables 7.1 - 7.3: percent by which squared error falls and lift area grows, by table."""
    rows = {}
    for strategy, reference, title in COMPARED:
        for measure in MEASURES:
            for line in improvements(strategy, reference, measure).itertuples():
                star = "*" if line.p < LEVEL else ""
                row = rows.setdefault(line.data, {"table": line.data})
                row.setdefault(title, []).append(f"{line.percent:+.1f}{star}")
    cells = [
        {name: one if name == "table" else ", ".join(one) for name, one in row.items()}
        for row in rows.values()
    ]
    return pd.DataFrame(cells).fillna("")


def claims(curves, improvements=None):
    """The claims of chapters 6 and 7 that the curves can answer."""
    improvements = improvements or _by_part(curves)
    if LABELS in curves:
        yield from _of_labels(curves[LABELS])
    for part, text, published, winner in (
        (PROBABILITIES, "BootstrapJS ahead of ActiveDecorateJS in all", "18/0/6", 1),
        (EARLY, "ActiveDecorateJS ahead of BootstrapJS early", "8/2/14", -1),
    ):
        if part in curves:
            found = improvements[part]("BootstrapJS", "ActiveDecorateJS", "squared_error")
            made, *_ = signs(found)
            yield _record_claim(text, published, made, winner)
    if PROBABILITIES in curves:
        part = improvements[PROBABILITIES]
        for strategy, reference, text, published in (
            ("ActiveDecorateJS", DECORATE, "divergence beats margins", "23/1/0"),
            ("BootstrapJS", "BootstrapLV", "BootstrapJS beats LV", "most"),
            (DECORATE, RANDOM, "ActiveDecorate beats random cases", "most"),
            ("BootstrapJS", "random, bagged trees", "BootstrapJS beats random cases", "most"),
        ):
            made, *_ = signs(part(strategy, reference, "squared_error"))
            yield _record_claim(f"{text}, squared error", published, made, 1)
        made, *_ = signs(part("BootstrapJS", "BootstrapLV", "squared_error"))
        yield _never_worse_claim("BootstrapJS never worse than LV, squared error", "yes", made)
        made, _, percents = signs(part("BootstrapJS", "BootstrapLVExt", "squared_error"))
        yield _level_claim("BootstrapJS level with LV-EXT, squared error", "4/5/3", made, percents)
        made, _, percents = signs(part("ActiveDecorateJS", DECORATE, "lift_chart_area"))
        yield _level_claim("divergence level with margins, lift area", "yes", made, percents)


def _record_claim(text, published, made, winner):
    if not made:
        return Claim(text, published, "", "not measured")
    wins, losses = made.count(winner), made.count(-winner)
    p = 1.0
    if wins + losses:
        p = binomtest(wins, wins + losses, alternative="greater").pvalue
    verdict = _more_often(wins > losses, p)
    if published == "most" and 2 * wins <= len(made):
        verdict = "not on most"
    return Claim(text, published, f"{_record(made)} (p {p:.3f})", verdict)


def _more_often(is_more, p):
    """The verdict on wins over tables: more of them, and a one-sided test shows it."""
    return ("yes" if p < LEVEL else "not significant") if is_more else "no"


def _never_worse_claim(text, published, made):
    if not made:
        return Claim(text, published, "", "not measured")
    return Claim(text, published, _record(made), -1 not in made)


def _level_claim(text, published, made, percents):
    """That the mean improvement over tables is within a margin of 0."""
    if not made:
        return Claim(text, published, "", "not measured")
    shown = f"{_record(made)}, {mean_and_error(percents, 1)} %"
    return Claim(f"{text} (within {NEAR} %)", published, shown, alike(percents, NEAR))


def _record(made):
    return f"{made.count(1)}/{made.count(0)}/{made.count(-1)}"


def _of_labels(curves):
    needed = data_utilization(curves, RANDOM)
    wide = needed.pivot(index="data", columns="strategy", values="labels").fillna(np.inf)
    rivals = [name for name in ASKERS[:2] if name in wide]
    if DECORATE in wide and rivals:
        wins, n = int((wide[DECORATE] < wide[rivals].min(axis=1)).sum()), len(wide)
        # Of equal strategies, each would need the fewest as often.
        p = binomtest(wins, n, 1 / (1 + len(rivals)), alternative="greater").pvalue
        text = "ActiveDecorate needs fewest labels for the target"
        yield Claim(text, "10 of 15", f"{wins} of {n} (p {p:.3f})", _more_often(2 * wins > n, p))
    top = improvement(curves, RANDOM, top=TOP)
    by = top.pivot(index="data", columns="strategy", values="percent")
    if {DECORATE, JS} <= set(by):
        gains = (by[DECORATE] - by[JS]).dropna()
        wins = int((gains > 0).sum())
        p = wilcoxon(gains, alternative="greater").pvalue if gains.any() else 1.0
        text, shown = "margins reduce the error more than divergence", f"{wins} of {len(gains)}"
        verdict = _more_often(2 * wins > len(gains), p)
        yield Claim(text, "11 of 15", f"{shown} (p {p:.3f})", verdict)
    if {DECORATE, JS} <= set(wide):
        # Wins of margins and of divergence.
        fewer, more = ((wide[DECORATE] * sign < wide[JS] * sign).sum() for sign in (1, -1))
        text = f"divergence needs as many labels as margins (within {LABELS_NEAR} %)"
        reached = wide[np.isfinite(wide[[DECORATE, JS]]).all(axis=1)]
        ratios = np.log(reached[JS] / reached[DECORATE])
        percent = 100 * (np.exp(ratios.mean()) - 1)
        verdict = alike(ratios, np.log(1 + LABELS_NEAR / 100))
        yield Claim(text, "7 : 8", f"{fewer} : {more}; {percent:+.0f} % on average", verdict)
    yield from _of_mixed(curves)


def _of_mixed(curves):
    """Who asks best for DECORATE (table 6.4)."""
    best = []
    for _, part in curves[curves["strategy"].isin(MIXED)].groupby("data"):
        if set(MIXED) <= set(part["strategy"]):
            found = improvement(part, MIXED[0]).set_index("strategy")["percent"]
            best.append(found.idxmax() if found.max() > 0 else MIXED[0])
    if best:
        wins = best.count(DECORATE)
        yield Claim(
            "DECORATE asks best for DECORATE", "yes", f"{wins} of {len(best)}", (wins, len(best))
        )


def draw(lines):
    """Errors by number of labels, one panel per table of classification."""
    curves = long(lines, LABELS)
    left_out = [*MIXED[:2], *ASKS_FOR, *ASKS_FOR.values()]
    return plotting.strategy_curves(curves[~curves["strategy"].isin(left_out)])


def more_pictures(lines):
    """Squared errors of the strategies for probabilities."""
    curves = long(lines, PROBABILITIES)
    if not len(curves):
        return {}
    return {"decorate_queries-probabilities": plotting.strategy_curves(curves, "squared_error")}
