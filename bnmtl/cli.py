"""The command `bnmtl`: options, progress, a summary, and mistakes in one line."""

import contextlib
import math
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

import bnmtl
from bnmtl.mistakes import in_options, told

__all__ = ["main"]

_MISTAKE = 2
_INTERRUPTED = 130
app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn the Bayesian networks of several related tasks together.",
)


def main(arguments=None):
    """Run the command line and exit.

    Exit codes: 0, 2 for a mistake (one line on stderr), 130 after Ctrl-C; an error inside bnmtl
    itself leaves its traceback and 1.

    Parameters
    ----------
    arguments : list of str, optional
        Default: those of the process.
    """
    try:
        code = app(args=arguments, prog_name="bnmtl", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        mistake = told(error)
        if mistake is None:
            raise
        _complain(mistake)
        code = _MISTAKE
    if code == _INTERRUPTED:
        _complain("interrupted; no half-written file is left.")
    sys.exit(code or 0)


def _complain(message):
    print(f"bnmtl: {' '.join(message.split())}", file=sys.stderr)


def _print_version(wanted):
    if wanted:
        print(f"bnmtl {bnmtl.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, help="Show the version.")
    ] = False,
):
    if context.invoked_subcommand is None:
        print(context.get_help())


def _whole(least):
    """Return a check that an option is a whole number of at least `least`."""

    def check(option: typer.CallbackParam, text: str | None):
        if text is None:
            return None
        if not re.fullmatch(r"[+-]?[0-9]+", text) or int(text) < least:
            raise ValueError(
                f"`{option.opts[0]}` must be a whole number of at least {least}; {_given(text)}."
            )
        return int(text)

    return check


def _choice(*known):
    """Return a check that an option is one of a few words."""

    def check(option: typer.CallbackParam, text: str | None):
        if text is not None and text not in known:
            words = f"{', '.join(known[:-1])} or {known[-1]}"
            raise ValueError(f"`{option.opts[0]}` must be {words}; {_given(text)}.")
        return text

    return check


def _penalty(text: str):
    penalty = text if text == "auto" else _number(text)
    if penalty != "auto" and not 0 <= penalty <= 1:
        raise ValueError(f"`--penalty` must be auto or a number from 0 to 1; {_given(text)}.")
    return penalty


def _sample_size(text: str | None):
    size = None if text is None else _number(text)
    if size is not None and not 0 < size < math.inf:
        raise ValueError(
            f"`--equivalent-sample-size` must be a finite number above 0; {_given(text)}."
        )
    return size


def _seconds(text: str | None):
    seconds = None if text is None else _number(text)
    if seconds is not None and not 0 <= seconds < math.inf:
        raise ValueError(f"`--time-limit` must be a number of 0 or more; {_given(text)}.")
    return seconds


def _number(text):
    """Return a number, nan for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _given(text):
    return f"{text} was given" if text.strip() else "nothing was given"


@app.command()
def learn(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="CSV or Parquet files: one per task, or one table."),
    ],
    task_column: Annotated[
        str | None,
        typer.Option(metavar="C", help="Column that tells the task of a row."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="C", help="Column to leave out; repeatable.")
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|drop|state",
            callback=_choice("error", "drop", "state"),
            help="Missing values: refuse, drop their rows, or a state of theirs.",
        ),
    ] = "error",
    discretize: Annotated[
        str | None,
        typer.Option(metavar="N", callback=_whole(2), help="Cut continuous columns into N bins."),
    ] = None,
    prior: Annotated[
        str,
        typer.Option(
            metavar="paired|edit",
            callback=_choice("paired", "edit"),
            help="What ties the tasks: agreement in pairs, or few edits.",
        ),
    ] = "paired",
    penalty: Annotated[
        str,
        typer.Option(
            metavar="X|auto",
            callback=_penalty,
            help="How much to share: 0 not at all, 1 one graph for all, auto by held-out rows.",
        ),
    ] = "auto",
    score: Annotated[
        str,
        typer.Option(
            metavar="bdeu|bds|k2|bic|aic",
            callback=_choice("bdeu", "bds", "k2", "bic", "aic"),
            help="Score of a task's graph.",
        ),
    ] = "bdeu",
    equivalent_sample_size: Annotated[
        str | None,
        typer.Option(metavar="A", callback=_sample_size, help="Of bdeu and bds; 1 if not given."),
    ] = None,
    max_parents: Annotated[
        str | None,
        typer.Option(metavar="N", callback=_whole(1), help="Most parents of a variable."),
    ] = None,
    required: Annotated[
        str | None,
        typer.Option(metavar="F", help="CSV of arcs that must be there: columns from, to, (task)."),
    ] = None,
    forbidden: Annotated[
        str | None,
        typer.Option(metavar="F", help="CSV of arcs that must not be there: columns as above."),
    ] = None,
    tiers: Annotated[
        str | None,
        typer.Option(
            metavar="F", help="Tiers, a line each, variables separated by commas: no arc goes back."
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="orders|hill-climbing|exact",
            callback=_choice("orders", "hill-climbing", "exact"),
            help="Search for a graph of one task; orders, but hill-climbing with --restarts.",
        ),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(metavar="N", callback=_whole(1), help="Starts of a search over orders; 5."),
    ] = None,
    restarts: Annotated[
        str | None,
        typer.Option(metavar="N", callback=_whole(0), help="Restarts of hill climbing; 100."),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(metavar="S", callback=_seconds, help="Seconds, then the best so far."),
    ] = None,
    seed: Annotated[
        str,
        typer.Option(metavar="N", callback=_whole(0), help="The same seed gives the same result."),
    ] = "0",
    jobs: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            callback=_whole(1),
            help="Threads, which change no result; all if not given.",
        ),
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder to write.")] = "bnmtl-run",
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace the files of an earlier run in DIR; others stay."),
    ] = False,
):
    """Learn one network per task, the tasks together.

    Writes a BIF file per task, arcs.csv, pictures, report.html and run.json to DIR.
    """
    try:
        from bnmtl.runs import Options, run

        options = Options(
            paths=tuple(paths),
            task_column=task_column,
            ignore=tuple(ignore or ()),
            missing=missing,
            discretize=discretize,
            prior=prior,
            penalty=penalty,
            score=score,
            equivalent_sample_size=equivalent_sample_size,
            max_parents=max_parents,
            required=required,
            forbidden=forbidden,
            tiers=tiers,
            search=search,
            starts=starts,
            restarts=restarts,
            time_limit=time_limit,
            seed=seed,
            jobs=jobs,
            out=out,
            force=force,
        )
        with _progress() as progress:
            result = run(options, progress)
    except KeyboardInterrupt:
        # Caught here, because the option parser may add an empty line to the message.
        raise typer.Exit(_INTERRUPTED) from None
    for message in result.record["warnings"]:
        print(f"warning: {' '.join(in_options(message).split())}", file=sys.stderr)
    _print_summary(result)


def _progress():
    """Give a context with a bar per stage, with None where stderr is no terminal."""
    from rich.console import Console

    from bnmtl.progress import Bar

    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else contextlib.nullcontext()


def _print_summary(result):
    """Show sizes, sharing, scores, and where the files are."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    record = result.record
    several = result.single_task is not None
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("task", overflow="fold")
    columns = ["rows", "variables", "arcs"]
    columns += ["in all", "score", "alone"] if several else ["score"]
    for column in columns:
        table.add_column(column, justify="right")
    arcs = result.learner.arcs_
    for task in record["tasks"]:
        row = [f"{task['rows']}", f"{task['variables']}", f"{task['arcs']}"]
        if several:
            own = arcs[arcs["task"] == task["name"]]
            shared = (own["n_tasks"] == own["n_tasks_possible"]) & (own["n_tasks"] > 1)
            row += [f"{shared.sum()}", f"{task['score']:,.1f}", f"{task['single_task_score']:,.1f}"]
        else:
            row += [f"{task['score']:,.1f}"]
        table.add_row(Text(task["name"]), *row)
    console = Console(highlight=False)
    console.print(table)
    for line in _summary_lines(result):
        console.print(Text(line), soft_wrap=True)


def _summary_lines(result):
    record = result.record
    yield ""
    if result.single_task is None:
        yield "One task: nothing is shared."
    else:
        from bnmtl.plotting.curves import penalty_name

        counts = record["arcs"]
        chosen = "chosen on held-out rows" if "validation_scores" in record else "as given"
        yield (
            f"{counts['arcs']} different arcs: {counts['all']} in all tasks that could have them, "
            f"{counts['some']} in some, {counts['one']} in one."
        )
        yield f"Penalty {penalty_name(record['penalty'])}, {chosen}."
    yield f"{len(record['files'])} files in {result.folder}; begin with report.html."


@app.command()
def structures(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One of them.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="BIF file to write.")] = None,
):
    """List the reference networks, or write one of them to a file."""
    from bnmtl import structures as catalogue

    if name is None:
        _refuse_lone_out(out)
        for known in catalogue.names():
            network = catalogue.load(known)
            print(
                f"{known:<12} {len(network.variables):>4} variables  "
                f"{network.graph.number_of_edges():>5} arcs  {network.n_parameters:>6} parameters"
            )
        return
    source = catalogue.path(name)
    if out is None:
        print(catalogue.load(name))
        return
    _export(source.read_bytes(), out, (".bif", ".bif.gz"))


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One of them.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="CSV file to write.")] = None,
):
    """List the data sets, or write one of them to a file."""
    from bnmtl import data as catalogue

    if name is None:
        _refuse_lone_out(out)
    for known in [name] if name else catalogue.names():
        source = catalogue.path(known)
        if out is None:
            frames = catalogue.load(known)
            n_rows = sum(len(frame) for frame in frames.values())
            n_columns = len(next(iter(frames.values())).columns)
            print(
                f"{known:<12} {len(frames):>2} tasks by column {catalogue.task_column(known)}, "
                f"{n_rows} rows, {n_columns} variables"
            )
        else:
            import gzip

            content = source.read_bytes()
            content = gzip.decompress(content) if source.suffix == ".gz" else content
            _export(content, out, (".csv", ".csv.gz"))


def _refuse_lone_out(out):
    if out is not None:
        raise ValueError(f"`--out` must come with the NAME of what to write; `{out}` came alone.")


def _export(content, out, suffixes):
    """Write one file, gzipped if its name says so; an existing one stays."""
    import gzip

    if not out.endswith(suffixes):
        raise ValueError(f"`--out` must end in {' or '.join(suffixes)}; `{out}` was given.")
    if out.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        with Path(out).open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise ValueError(f"`--out` must be a new file; `{out}` exists: remove it first.") from None
    print(f"written to {out}")
