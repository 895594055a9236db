"""Networks as BIF files (`.bif`, `.bif.gz`): a strict reader whose errors name lines, and a writer.

The dialect is the Interchange Format for Bayesian Networks 0.15 as written by bnlearn, JavaBayes,
pgmpy and pyAgrum.
"""

import gzip
import itertools
import os
import re
import zlib
from pathlib import Path
from urllib.parse import quote

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, warn
from bnmtl.networks.bif_syntax import NAME_PROPERTY, STATES_PROPERTY, Syntax
from bnmtl.networks.tables import SUM_TOLERANCE, check_table
from bnmtl.wording import listed, type_of
from bnmtl.writing import write_whole

RESCALED_TOLERANCE = 1e-3
# Cells of a table that only a default fills, since a few words can ask for any number of them.
LARGEST_DEFAULT = 2**22
_TOO_LARGE = {
    "argument": None,
    "rule": "must give {name} a table of at most {most:,} cells over {most_axes} variables",
    "found": "with {n:parent} it would have {cells:.3g} over {axes}",
    "remedies": "remove some parents",
}
_TOO_MANY_DEFAULTS = {
    "argument": None,
    "rule": "must leave at most {most:,} cells of {name} to `default`",
    "found": "with {n:parent} there would be {cells:,}",
    "remedies": "write the rows of {name}",
}
_TOO_MANY_IN_ALL = _TOO_MANY_DEFAULTS | {
    "rule": "must leave at most {most:,} cells of all variables to `default`",
    "found": "with those of {name} there would be {cells:,}",
}


def read_parts(path):
    """Return graph, states and tables of a file; see `BayesNet.from_bif`.

    Names and states are in quotes or without, and may have blanks. In a list of states and in a
    row, what stands between two commas is one state. In a row without commas, words are states, as
    many as there are parents; with one parent the whole text is a state. In the head of a
    probability block, ``|`` and ``,`` are blanks. Words without quotes and marks between them are
    one name or several, whichever is declared; if both are, the file is refused. In a ``table``,
    the child varies slowest and the last parent fastest. A ``default`` fills the rows that are
    missing, up to 2**22 cells of a variable.
    """
    path = _bif_path(path)
    syntax = Syntax(_text(path), str(path))
    syntax.parse()
    graph = _graph(syntax)
    states = {declared.name: declared.states for declared in syntax.variables.values()}
    tables = {}
    n_rescaled = n_defaults = 0
    for family in syntax.families.values():
        rows, n_off, n_filled = _rows(syntax, family, n_defaults)
        n_rescaled += n_off
        n_defaults += n_filled
        child = syntax.variables[family.child].name
        parents = [syntax.variables[parent].name for parent in family.parents]
        table = rows.reshape([len(states[name]) for name in (*parents, child)])
        axes = sorted(range(len(parents)), key=parents.__getitem__)
        tables[child] = table.transpose(*axes, len(parents))
    if n_rescaled:
        rule = "has {n:row} of probabilities that did not sum to 1 within {within:g}"
        details = {"n": n_rescaled, "within": SUM_TOLERANCE}
        warn(None, rule, found="such rows are rescaled", file=path, **details)
    return graph, states, tables


def _text(path):
    """Return the text of a file, or raise an error with the line that is not text."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from None
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            rule, found = "must be compressed by gzip", "it is damaged or not: {error!s}"
            raise InputError(None, rule, found=found, file=path, error=error) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(None, "must be text in UTF-8", file=path, line=line) from None


def _bif_path(path):
    if not isinstance(path, str | os.PathLike):
        rule, remedies = "must be a path", "for example 'asia.bif'"
        raise InputTypeError("path", rule, type_of(path), remedies=remedies)
    path = Path(path)
    if not path.name.endswith((".bif", ".bif.gz")):
        raise InputError("path", "must end in .bif or .bif.gz", listed([path]))
    return path


def _unusable(path, error):
    """Return an error of the same type that names the user's file instead of a temporary one."""
    return type(error)(error.errno, error.strerror or str(error), str(path))


def _graph(syntax):
    """Return the graph described by the headers of the probability blocks."""
    graph = nx.DiGraph()
    graph.add_nodes_from(declared.name for declared in syntax.variables.values())
    for key, family in syntax.families.items():
        child = syntax.variables[key].name
        graph.add_edges_from((syntax.variables[parent].name, child) for parent in family.parents)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [tail for tail, _ in nx.find_cycle(graph)]
        keys = {declared.name: key for key, declared in syntax.variables.items()}
        last = max(syntax.families[keys[name]].offset for name in cycle)
        syntax.fail("closes the cycle {cycle!s}", last, cycle=" -> ".join([*cycle, cycle[0]]))
    return graph


def _rows(syntax, family, n_defaults):
    """Return the probabilities of a block, and the numbers of rescaled rows and default cells.

    The probabilities have the shape (q, r); the last parent varies fastest. `n_defaults` is the
    number of cells that defaults fill in the blocks before.
    """
    parent_states = [syntax.variables[parent].states_as_written for parent in family.parents]
    n_states = len(syntax.variables[family.child].states)
    sizes = [*map(len, parent_states), n_states]
    details = {"name": family.child, "n": len(parent_states)}
    with syntax.located(family.offset):
        n_rows = check_table(sizes, **_TOO_LARGE, **details) // n_states
    if family.table is not None:
        _check_count(syntax, family.table, n_rows * n_states)
        # In the standard the child varies slowest and the last parent fastest.
        rows = np.array(family.table.values).reshape(n_states, n_rows).T
        return *_checked(syntax, family, rows, itertools.repeat(family.table)), 0
    at = _positions(syntax, family, parent_states)
    n_left = n_rows - len(at)
    if family.default is None:
        if n_left:
            _refuse_missing(syntax, family, parent_states, at, n_left)
        rows, n_off = _checked(syntax, family, [row.values for row in family.rows], family.rows)
        return rows[np.argsort(at)], n_off, 0
    _check_count(syntax, family.default, n_states)
    n_filled = n_left * n_states
    with syntax.located(family.offset):
        check_table([n_filled], **_TOO_MANY_DEFAULTS, most=LARGEST_DEFAULT, **details)
        check_table([n_defaults + n_filled], **_TOO_MANY_IN_ALL, **details)
    statements = [*family.rows, *[family.default] * (n_left > 0)]
    given, n_off = _checked(syntax, family, [row.values for row in statements], statements)
    rows = np.empty((n_rows, n_states))
    rows[:] = given[-1]
    rows[at] = given[: len(at)]
    return rows, n_off, n_filled


def _positions(syntax, family, parent_states):
    """Return the index of each row of a block, by its labels."""
    positions = [{state: i for i, state in enumerate(states)} for states in parent_states]
    n_states = len(syntax.variables[family.child].states)
    found = {}
    for row in family.rows:
        labels = syntax.labels(row.labels, len(positions))
        at = _position(syntax, family, labels, row.offset, positions)
        if at in found:
            rule, labels = "repeats row ({labels!s}) of {child}", ", ".join(labels)
            syntax.fail(rule, row.offset, labels=labels, child=family.child)
        _check_count(syntax, row, n_states)
        found[at] = row
    return list(found)


def _position(syntax, family, labels, offset, positions):
    """Return the index of the row for a tuple of parent states."""
    if len(labels) != len(positions):
        rule, found = "must name {wanted:parent state} in a row of {child}", "it names {named}"
        details = {"wanted": len(positions), "named": len(labels), "child": family.child}
        syntax.fail(rule, offset, found, **details)
    at = 0
    for label, parent, position in zip(labels, family.parents, positions, strict=True):
        if label not in position:
            rule, found = "must name a state of {parent}, {states}", "{label} is not one"
            details = {"parent": parent, "states": list(position), "label": label}
            syntax.fail(rule, offset, found, **details)
        at = at * len(position) + position[label]
    return at


def _refuse_missing(syntax, family, parent_states, at, n_left):
    """Raise an error that names the first row that a block lacks."""
    known = set(at)
    first = next(number for number in itertools.count() if number not in known)
    labels = []
    for states in reversed(parent_states):
        first, digit = divmod(first, len(states))
        labels.insert(0, states[digit])
    syntax.fail(
        "must give {child} a row ({labels!s}) or a default",
        family.offset,
        "{missing} of {n:row} are missing",
        child=family.child,
        labels=", ".join(labels),
        missing=n_left,
        n=n_left + len(at),
    )


def _check_count(syntax, row, n_values):
    if len(row.values) != n_values:
        rule, found = "must give {wanted} probabilities", "it gives {n}"
        syntax.fail(rule, row.offset, found, wanted=n_values, n=len(row.values))


def _checked(syntax, family, rows, statements):
    """Return rows, and how many were rescaled; raise if sums are too far from 1."""
    rows = np.asarray(rows)
    sums = rows.sum(axis=1)
    deviations = np.abs(sums - 1)
    wrong = np.flatnonzero(~(deviations <= RESCALED_TOLERANCE))
    if wrong.size:
        statement = next(itertools.islice(statements, int(wrong[0]), None))
        rule, found = "must give {child} probabilities that sum to 1", "they sum to {total:.6g}"
        syntax.fail(rule, statement.offset, found, child=family.child, total=sums[wrong[0]])
    off = deviations > SUM_TOLERANCE
    if off.any():
        rows = np.where(off[:, None], rows / sums[:, None], rows)
    return rows, int(off.sum())


def write_parts(network, path):
    """Write graph, states and tables of a network to a file; see `BayesNet.to_bif`."""
    path = _bif_path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"`path` must lie in an existing folder, got `{path}`; the folder `{path.parent}` does "
            "not exist, so make it first."
        )
    content = _bif_text(network).encode("ascii")
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    write_whole(path, content)


def _bif_text(network):
    """Return the whole file."""
    states = network.states
    variables = list(network.graph)
    # pgmpy treats names that differ only in case as one variable.
    names = _written(variables, _variable_name, str.lower)
    written_states = {variable: _written(states[variable], _name, str) for variable in variables}
    lines = ["network unknown {", "}"]
    for variable in variables:
        labels = written_states[variable]
        lines.append(f"variable {names[variable]} {{")
        lines.append(f"  type discrete [ {len(labels)} ] {{ {', '.join(labels.values())} }};")
        if names[variable] != variable:
            lines.append(f"  property {NAME_PROPERTY} = {_escaped(variable)};")
        if list(labels.values()) != list(labels):
            originals = ", ".join(_escaped(state) for state in labels)
            lines.append(f"  property {STATES_PROPERTY} = {originals};")
        lines.append("}")
    for variable in variables:
        parents = network.parents(variable)
        rows = network.table(variable).reshape(-1, len(states[variable])).tolist()
        if parents:
            given = ", ".join(names[parent] for parent in parents)
            lines.append(f"probability ( {names[variable]} | {given} ) {{")
            labels = itertools.product(*(written_states[parent].values() for parent in parents))
            lines.extend(
                f"  ({', '.join(label)}) {', '.join(map(repr, row))};"
                for label, row in zip(labels, rows, strict=True)
            )
        else:
            lines.append(f"probability ( {names[variable]} ) {{")
            lines.append(f"  table {', '.join(map(repr, rows[0]))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _written(originals, clean, key):
    """Map names to distinct names that are valid in BIF; valid names do not change.

    Two written names are the same when their `key` is.
    """
    written = {}
    taken = set()
    for original in originals:
        if clean(original) == original and key(original) not in taken:
            written[original] = original
            taken.add(key(original))
    for original in originals:
        if original in written:
            continue
        candidate = base = clean(original)
        number = itertools.count(2)
        while key(candidate) in taken:
            candidate = f"{base}_{next(number)}"
        written[original] = candidate
        taken.add(key(candidate))
    return {original: written[original] for original in originals}


def _name(original):
    """Return a name without characters that are invalid in BIF; `//` would begin a comment."""
    return re.sub(r"[^A-Za-z0-9_.+\-<>=/]|/(?=/)", "_", original) or "_"


def _variable_name(original):
    """Return a name for a header line, where pgmpy reads `table1` as a keyword and a number."""
    return re.sub(r"(table|default)(?=[0-9eE.+-])", r"\1_", _name(original))


def _escaped(original):
    return quote(original, safe="", errors="surrogatepass")
