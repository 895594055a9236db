"""The command `bnmtl`: options, progress, a summary, and mistakes in one line."""

import contextlib
import sys
import textwrap
from typing import Annotated

import typer

import bnmtl
from bnmtl.cli.interrupts import interrupts_heard
from bnmtl.cli.messages import in_one_sentence
from bnmtl.cli.options import CalibrateOptions, Options, PredictOptions, RelateOptions, taking
from bnmtl.errors import InputError

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
        mistake = in_one_sentence(error)
        if mistake is None:
            raise
        _complain(mistake)
        code = _MISTAKE
    if code == _INTERRUPTED:
        _complain("interrupted; no half-written file is left.")
    sys.exit(code or 0)


def _complain(message):
    print(f"bnmtl: {_one_line(message)}", file=sys.stderr)


def _one_line(message):
    """Return a message on one line; blanks within a line stay, as they may be what is wrong."""
    lines = (line.strip() for line in message.splitlines())
    return " ".join(line for line in lines if line)


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


@app.command()
@taking(Options, after="penalty")
def learn(options):
    """Learn one network per task, the tasks together.

    Writes a BIF file per task, tables, pictures, report.html and run.json to DIR.
    """
    with _running() as progress:
        from bnmtl.cli.learn import run

        result = run(options, progress)
    _show_warnings(result)
    _print_networks(result)
    _print_lines(_summary_lines(result))


@app.command()
@taking(RelateOptions)
def relate(options):
    """Tell which tasks are close to each other, before they are learned together.

    Writes relatedness.csv, order.csv, pictures, report.html and run.json to DIR.
    """
    with _running() as progress:
        from bnmtl.cli.relate import run

        result = run(options, progress)
    _show_warnings(result)
    _print_dissimilarity(result)
    told = [result.record["verdict"], result.record["meaning"]]
    lines = [line for text in told for line in textwrap.wrap(text, 100)]
    _print_lines(["", *lines, _where(result)])


@app.command()
@taking(PredictOptions)
def predict(options):
    """Predict a variable in rows of data by a network, or by that of each row's task.

    Writes the rows, the predicted state and the probability of each to F.

    Numbers are cut as for learning where NETWORK is still in that run's folder.
    """
    with _quietly_interrupted():
        from bnmtl.cli.predict import run
        from bnmtl.wording import count

        result = run(options)
    _show_messages(result.warnings)
    _print_predictions(result)
    if result.cut_by is not None:
        _print_lines([f"Numbers were cut as in {result.cut_by}."])
    _print_lines([f"{count(result.judged.n_rows, 'row')} written to {options.out}."])


@app.command()
@taking(CalibrateOptions)
def calibrate(options):
    """Make probabilities of scores that mean what they say.

    Writes scores.csv with the calibrated scores, measures.csv, reliability.csv,
    reliability.png, report.html and run.json to DIR; with --apply scores.csv and run.json.
    """
    if options.apply is not None:
        _apply(options)
        return
    with _quietly_interrupted():
        from bnmtl.cli.calibrate import run
        from bnmtl.reports.calibrated import verdict

        result = run(options)
    _show_warnings(result)
    measures = result.measures
    rows = [[name, *(f"{one:.4f}" for one in own)] for name, *own in measures.itertuples()]
    _print_table(["method", *measures], rows)
    _print_lines(["", verdict(result.record), _where(result)])


def _apply(options):
    """Calibrate scores by the calibrators of an earlier run."""
    with _quietly_interrupted():
        from bnmtl.cli.apply import run
        from bnmtl.wording import count

        result = run(options)
    _show_warnings(result)
    rows = [[name, f"{mean:.3f}"] for name, mean in result.columns.mean().items()]
    _print_table(["column", "mean probability"], rows)
    n_rows = count(len(result.columns), "row")
    _print_lines(["", f"{n_rows} written to {result.folder / 'scores.csv'}."])


@contextlib.contextmanager
def _running():
    """Give what shows the progress of a run, and end quietly where it is interrupted."""
    with _quietly_interrupted(), _progress() as progress:
        yield progress


@contextlib.contextmanager
def _quietly_interrupted():
    try:
        with interrupts_heard():
            yield
    except KeyboardInterrupt:
        # Caught here, because the option parser may add an empty line to the message.
        raise typer.Exit(_INTERRUPTED) from None


def _show_warnings(result):
    _show_messages(result.record["warnings"])


def _show_messages(messages):
    for message in messages:
        print(f"warning: {_one_line(message)}", file=sys.stderr)


def _progress():
    """Give a context with a bar per stage, with None where stderr is no terminal."""
    from rich.console import Console

    from bnmtl.progress import Bar

    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else contextlib.nullcontext()


def _print_networks(result):
    """Show sizes, sharing and how well held-out rows are predicted."""
    from bnmtl.reports.learned import sharing_kinds

    record = result.record
    several = result.single_task is not None
    columns = ["task", "rows", "variables", "arcs"]
    held_out = record["held_out"]
    # Of searches that were cut short the figures tell nothing.
    is_told = held_out and not held_out["ended_by"]
    ways = [way for way in ("together", "alone", "empty") if is_told and way in held_out]
    columns += ["in all"] if several else []
    columns += [{"alone": "each alone", "empty": "no arcs"}.get(way, way) for way in ways]
    arcs = result.learner.arcs_
    kinds = sharing_kinds(arcs)
    rows = []
    for task in record["tasks"]:
        row = [task["name"], f"{task['rows']}", f"{task['variables']}", f"{task['arcs']}"]
        if several:
            own = zip(kinds, arcs["task"], strict=True)
            shared = sum(kind == "all" and name == task["name"] for kind, name in own)
            row += [f"{shared}"]
        row += [f"{held_out['tasks'][task['name']][way]:.2f}" for way in ways]
        rows.append(row)
    _print_table(columns, rows)
    if ways:
        _print_lines(["Held-out rows: mean log-likelihood of a row in nats, larger is better."])


def _print_predictions(result):
    """Show how often each state is predicted and, where the truth is known, how well."""
    from bnmtl.wording import count

    columns = ["state", "predicted", "mean probability", "known"]
    rows = [
        [state, f"{own.predicted}", f"{own['mean']:.3f}", f"{own.known}"]
        for state, own in result.states.iterrows()
    ]
    judged = result.judged
    if not judged.n_known:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    _print_table(columns, rows)
    _print_lines([""])
    if len(result.by_task) > 1:
        _print_tasks(result.by_task)
    if judged.n_known:
        _print_lines(
            [
                f"Of {count(judged.n_known, 'row')} whose {result.target} is known, "
                f"{judged.accuracy:.1%} are predicted right; cross-entropy "
                f"{judged.cross_entropy:.3f} nats."
            ]
        )


def _print_tasks(judged):
    """Show the rows of each task and, where the truth is known, how well they are predicted."""
    columns = ["task", "rows", "known", "right", "cross-entropy"]
    rows = [
        [name, f"{own.n_rows}", f"{own.n_known}", f"{own.accuracy:.1%}", f"{own.cross_entropy:.3f}"]
        if own.n_known
        else [name, f"{own.n_rows}", "0", "", ""]
        for name, own in judged.items()
    ]
    if not any(own.n_known for own in judged.values()):
        columns, rows = columns[:2], [row[:2] for row in rows]
    _print_table(columns, rows)
    _print_lines([""])


def _print_dissimilarity(result):
    """Show the dissimilarities of all tasks or, where there is no room, the nearest ones."""
    from bnmtl.plotting.dissimilarities import writer
    from bnmtl.relatedness.nearest import n_nearest

    table = result.dissimilarity
    write = writer(table.to_numpy())
    rows = [[name, *map(write, values)] for name, *values in table.itertuples(name=None)]
    if _print_table(["task", *table], rows, only_if_it_fits=True):
        return
    rows = []
    for principal, own in result.order.groupby("principal", sort=False):
        values = own["dissimilarity"].to_numpy()
        n_more = n_nearest(values) - 1
        more = f" and {n_more} more" if n_more else ""
        rows.append([principal, own["task"].iloc[0] + more, write(values[0])])
    _print_table(["task", "nearest", "dissimilarity"], rows, n_names=2)


def _print_table(columns, rows, n_names=1, only_if_it_fits=False):
    """Print a table whose first `n_names` columns are text; say whether it was printed."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        table.add_column(Text(column), overflow="fold", justify="left" if i < n_names else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(highlight=False)
    endless = console.options.update(max_width=1_000_000)
    if only_if_it_fits and console.measure(table, options=endless).maximum > console.width:
        return False
    console.print(table)
    return True


def _print_lines(lines):
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _summary_lines(result):
    record = result.record
    yield ""
    for sentence in record["verdict"]:
        yield from textwrap.wrap(sentence, 100)
    if result.single_task is None:
        yield "One task: nothing is shared."
    else:
        from bnmtl.learners.penalty import penalty_name
        from bnmtl.reports.gains import WAYS
        from bnmtl.wording import count

        counts = record["arcs"]
        chosen = "the default" if record["settings"]["penalty"] is None else "as given"
        if "validation_scores" in record:
            chosen = WAYS[record["chosen_by"]]
        if counts["arcs"]:
            yield (
                f"{count(counts['arcs'], 'different arc')}: {counts['all']} in all tasks that "
                f"could have them, {counts['some']} in some, {counts['one']} in one only"
                + (f", {counts['sole']} possible in one task only." if counts["sole"] else ".")
            )
            yield (
                f"Penalty {penalty_name(record['penalty'])} (0: arcs are not shared, 1: one graph "
                f"for all), {chosen}."
            )
    if record["sure"]:
        from bnmtl.confidence import MEANING

        yield from textwrap.wrap(record["sure"], 100)
        yield from textwrap.wrap(MEANING, 100)
    yield _where(result)


def _where(result):
    return f"{len(result.record['files'])} files in {result.folder}; begin with report.html."


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
    _export(out, source.read_bytes(), (".bif", ".bif.gz"))


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
            _export(out, content, (".csv", ".csv.gz"))


def _export(out, content, suffixes):
    from bnmtl.writing import OutputFile

    OutputFile(out, suffixes).write(content)
    print(f"written to {out}")


def _refuse_lone_out(out):
    if out is not None:
        raise InputError(
            "out", "must come with the {name} of what to write", found="{path} came alone", path=out
        )
