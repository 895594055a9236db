"""The program `bnmtl`: its commands, interrupts, progress, printed tables and exit codes."""

import _thread
import contextlib
import functools
import importlib
import os
import signal
import sys
import threading
from typing import Annotated

import typer

import bnmtl
from bnmtl.cli.messages import in_one_sentence
from bnmtl.cli.options import (
    CalibrateOptions,
    LibraryOptions,
    Options,
    PredictOptions,
    QueryOptions,
    RelateOptions,
    SelectOptions,
    ValidateOptions,
    takes_options,
    whole,
)
from bnmtl.errors import InputError
from bnmtl.progress import starts_processes
from bnmtl.wording import printable
from bnmtl.writing import ENDING

# Seconds until a swallowed interrupt is sent again.
_AGAIN_AFTER = 0.1


@contextlib.contextmanager
def interrupts_heard():
    """Raise KeyboardInterrupt for every interrupt within the block.

    While kernels are being compiled in the first run, an interrupt may occur in a Python function
    called by compiled code. Exceptions cannot propagate there: Python prints the exception and
    continues, and the interrupted compiler often raises another error.

    Raises
    ------
    KeyboardInterrupt
        If an interrupt was swallowed: instead of the error caused by it, or shortly afterwards.
    """
    swallowed = []
    show = sys.unraisablehook

    def hear(unraisable):
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            show(unraisable)
            return
        again = threading.Timer(_AGAIN_AFTER, _thread.interrupt_main)
        again.daemon = True
        swallowed.append(again)
        again.start()

    sys.unraisablehook = hear
    try:
        yield
    except Exception:
        if swallowed:
            raise KeyboardInterrupt from None
        raise
    finally:
        sys.unraisablehook = show
        for again in swallowed:
            again.cancel()


_MISTAKE = 2
_INTERRUPTED = 130
# Output folders that users need not name.
_FOLDERS = [kind.out for kind in (Options, RelateOptions, CalibrateOptions, LibraryOptions)]
_FOLDERS += [kind.out for kind in (SelectOptions, QueryOptions, ValidateOptions)]
app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn the Bayesian networks of several related tasks together.",
)


def main(arguments=None):
    """Run the command line and exit.

    Exit codes: 0 on success, 2 for invalid input (one line on stderr), 130 after Ctrl-C, 143 and
    129 after SIGTERM and SIGHUP, 1 for internal errors (with a traceback).

    Parameters
    ----------
    arguments : list of str, optional
        Default: the arguments of the process.
    """
    arguments, left = sys.argv[1:] if arguments is None else arguments, ""
    with _ended_like_interrupts() as received:
        try:
            with contextlib.redirect_stdout(_Output(sys.stdout)):
                code = _parser()(args=arguments, prog_name="bnmtl", standalone_mode=False)
                sys.stdout.flush()
        except _Interrupted as interrupt:
            code, left = _INTERRUPTED, str(interrupt)
        except (KeyboardInterrupt, typer.Abort):
            code = _INTERRUPTED
        except Exception as error:
            mistake = in_one_sentence(error, [*arguments, *_FOLDERS])
            if mistake is None:
                raise
            _complain(mistake)
            code = _MISTAKE
    if code == _INTERRUPTED:
        _complain(f"interrupted; {left or _left_by(arguments)}.")
        code = 128 + received[0] if received else code
    sys.exit(code or 0)


@contextlib.contextmanager
def _ended_like_interrupts():
    """Let other signals that end a program raise KeyboardInterrupt; yields those received.

    Those that are ignored when the program starts, as SIGHUP after `nohup`, still are.
    """
    received, before = [], {}

    def end(number, _):
        received.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        others = [number for number in ENDING if number != signal.SIGINT]
        before = {number: signal.getsignal(number) for number in others}
        before = {number: how for number, how in before.items() if how == signal.SIG_DFL}
    for number in before:
        signal.signal(number, end)
    try:
        yield received
    finally:
        for number, how in before.items():
            signal.signal(number, how)


class _Output:
    """The standard output, which raises InputError if it cannot be written, as on a full disk."""

    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, text):
        return self._tried(self._file.write, text)

    def flush(self):
        self._tried(self._file.flush)

    def _tried(self, function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            # Python itself would try again at the end, and complain.
            with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), self._file.fileno())
            if isinstance(error, BrokenPipeError):
                return None  # whoever reads it, such as `head`, has seen enough
            raise InputError(f"The output cannot be written ({error.strerror})") from None


@functools.cache
def _parser():
    """The parser of all commands; to make it from their signatures takes time."""
    return typer.main.get_command(app)


def _left_by(arguments):
    """What there is after Ctrl-C."""
    if arguments[:1] != ["library"]:
        return "no half-written file is left"
    how = " without `--force`" if "--force" in arguments else ""
    return f"the same command{how} goes on where it was"


def _complain(message):
    print(f"bnmtl: {_one_line(message)}", file=sys.stderr)


def _one_line(message):
    """Return a message on one line; blanks within a line are kept, as they may be the error."""
    lines = (line.strip() for line in message.splitlines())
    return printable(" ".join(line for line in lines if line))


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
@takes_options(Options, after="penalty")
def learn(options):
    """Learn one network per task, all tasks together.

    Writes a BIF file per task, tables, pictures, report.html and run.json to DIR.
    """
    _run("learn", options, has_progress=True)


@app.command()
@takes_options(RelateOptions)
def relate(options):
    """Measure how close tasks are, before learning them together.

    Writes relatedness.csv, order.csv, pictures, report.html and run.json to DIR.
    """
    _run("relate", options, has_progress=True)


@app.command()
@takes_options(PredictOptions)
def predict(options):
    """Predict a variable of each row with a network, or with the network of the row's task.

    Writes the rows with the predicted state and the probability of each state to F.

    Discretizes numeric columns as the run did if NETWORK is still in its folder.
    """
    _run("predict", options)


@app.command()
@takes_options(CalibrateOptions)
def calibrate(options):
    """Turn scores into calibrated probabilities.

    Writes scores.csv with the calibrated scores, measures.csv, reliability.csv,
    reliability.png, report.html and run.json to DIR; with --apply only scores.csv and run.json.
    """
    _run("calibrate", options)


@app.command()
@takes_options(LibraryOptions)
def library(options):
    """Train a library of models, from which `bnmtl select` selects ensembles.

    Writes the predictions of all models and the training rows to STORE. A build that was
    interrupted goes on when it is started again with the same table and options.
    """
    _run("library", options, has_progress=True)


@app.command()
@takes_options(SelectOptions)
def select(options):
    """Select an ensemble from the predictions of many models, for one metric.

    Writes weights.csv, trajectory.csv, predictions.csv, unused_cases.csv,
    pictures, report.html and run.json to DIR; with tasks also tasks.csv, and
    with --predict predicted.csv.
    """
    _run("select", options, has_progress=True)


@app.command()
@takes_options(QueryOptions)
def query(options):
    """Choose which rows without a label to label next.

    Writes queries.csv with the rows and the reason for each, utilities.csv, the learning curve so
    far, pictures, report.html and run.json to DIR.
    """
    _run("query", options, has_progress=True)


@app.command()
@takes_options(ValidateOptions)
def validate(options):
    """Judge models of a table: how well they predict, which is better, and how sure that is.

    Writes measures.csv, differences.csv, bias_variance.csv, the predictions of all rounds,
    pictures, report.html and run.json to DIR. Without --label it judges learned structures.
    """
    _run("validate", options, has_progress=True)


def _run(command, options, has_progress=False):
    """Run the module of a command, then print its warnings and its summary."""
    with _quietly_interrupted():
        module = importlib.import_module(f"bnmtl.cli.{command}")
        with _progress() if has_progress else contextlib.nullcontext() as bar:
            result = module.run(options, _Shown(bar)) if has_progress else module.run(options)
    for message in result.warnings:
        print(f"warning: {_one_line(message)}", file=sys.stderr)
    for part in module.summary(result):
        _print(part) if isinstance(part, str) else _print_table(part)


class _Shown:
    """Progress on the terminal if there is one, and in any case how many processes are started."""

    def __init__(self, bar):
        self._bar, self._last = bar, None

    def __call__(self, event):
        if starts_processes(event):
            # The same ones may fit several models, one after another.
            if event.stage.split()[1] != self._last:
                print(event.stage, file=sys.stderr)
            self._last = event.stage.split()[1]
        elif self._bar is not None:
            self._bar(event)


class _Interrupted(Exception):
    """Ctrl-C; the text says what there is, unless it is empty."""


@contextlib.contextmanager
def _quietly_interrupted():
    try:
        with interrupts_heard():
            yield
    except KeyboardInterrupt as interrupt:
        # Caught here, because the option parser may add an empty line to the message.
        raise _Interrupted(str(interrupt)) from None


def _progress():
    """Return a context with a progress bar per stage, or with None if stderr is not a terminal."""
    from rich.console import Console

    from bnmtl.progress import Bar

    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else contextlib.nullcontext()


def _print_table(table):
    """Print a table, or its narrower version if it does not fit."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(table.columns):
        justify = "left" if i < table.n_names else "right"
        shown.add_column(Text(printable(column)), overflow="fold", justify=justify)
    for row in table.rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    console = Console(highlight=False)
    endless = console.options.update(max_width=1_000_000)
    is_too_wide = console.measure(shown, options=endless).maximum > console.width
    if is_too_wide and table.if_too_wide is not None:
        _print_table(table.if_too_wide)
    else:
        console.print(shown)


def _print(line):
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False).print(Text(printable(line)), soft_wrap=True)


@app.command("compile")
def compile_kernels(
    jobs: Annotated[
        str | None,
        typer.Option(
            metavar="N", callback=whole(1), help="Number of processes (default: all cores)."
        ),
    ] = None,
):
    """Compile the inner loops now instead of at the first start, once per machine."""
    with _quietly_interrupted():
        from bnmtl.search.compilation import compile_all

        with _progress() as progress:
            n_compiled = compile_all(progress or False, jobs)
    print(f"{n_compiled} inner loops compiled" if n_compiled else "all inner loops were compiled")


@app.command()
def structures(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="BIF file to write.")] = None,
):
    """List the reference networks, or write one to a file."""
    from bnmtl import structures as catalogue

    if name is None:
        _refuse_lone_out(out)
        for known in catalogue.names():
            network = catalogue.load(known)
            print(
                f"{known:<12} {len(network.variables):>4} variables  "
                f"{network.graph.number_of_edges():>5} arcs  {network.n_parameters:>6} parameters"
            )
    elif out is None:
        print(catalogue.load(name))
    else:
        _export(out, catalogue.path(name), (".bif", ".bif.gz"))


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="CSV file to write.")] = None,
):
    """List the data sets, or write one to a file."""
    from bnmtl import data as catalogue

    if name is None:
        _refuse_lone_out(out)
    for known in [name] if name else catalogue.names():
        if out is None:
            frames = catalogue.load(known)
            n_rows = sum(len(frame) for frame in frames.values())
            n_columns = len(next(iter(frames.values())).columns)
            print(
                f"{known:<12} {len(frames):>2} tasks by column {catalogue.task_column(known)}, "
                f"{n_rows} rows, {n_columns} variables"
            )
        else:
            _export(out, catalogue.path(known), (".csv", ".csv.gz"))


def _export(out, source, suffixes):
    """Write a copy of a file, compressed or not depending on the suffix."""
    import gzip

    from bnmtl.writing import OutputFile

    content = source.read_bytes()
    content = gzip.decompress(content) if source.suffix == ".gz" else content
    OutputFile(out, suffixes).write(content)
    print(f"written to {printable(out)}")


def _refuse_lone_out(out):
    if out is not None:
        message = f"must come with the `name` of what to write; `{out}` came alone"
        raise InputError(message, argument="out", options=("name",))
