import gzip
import itertools
import re
import warnings
from functools import cache

import networkx as nx
import numpy as np
import pytest
from budget import little_memory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmtl import structures
from bnmtl.networks import BayesNet, bif

pytestmark = pytest.mark.beside_kernels

GOOD = """\
network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable wet {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( wet | rain ) {
  (no) 0.9, 0.1;
  (yes) 0.25, 0.75;
}
"""
AWKWARD = ["a b", "a,b", 'a"b', "a'b", "a;b", "a{b}", "a|b", "a\nb", "ä", "€", "%41", "a_b", "a//b"]


def read(tmp_path, content, name="x.bif"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return BayesNet.from_bif(path)


@st.composite
def networks(draw, names=None):
    """Networks of one to four variables with any names and probabilities that use all bits."""
    if names is None:
        names = st.text(max_size=4) | st.sampled_from(AWKWARD)
    variables = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    graph = nx.DiGraph()
    graph.add_nodes_from(draw(st.permutations(variables)))
    graph.add_edges_from(a for a in itertools.combinations(variables, 2) if draw(st.booleans()))
    states = {v: draw(st.lists(names, min_size=1, max_size=3, unique=True)) for v in variables}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {}
    for variable in variables:
        shape = [len(states[p]) for p in sorted(graph.predecessors(variable))]
        tables[variable] = rng.dirichlet([0.05] * len(states[variable]), size=shape)
    return BayesNet(graph, states, tables)


FILES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@given(networks())
@settings(FILES, max_examples=50)
def test_writing_and_reading_gives_the_same_network(tmp_path, network):
    path = tmp_path / "x.bif"
    network.to_bif(path)
    again = BayesNet.from_bif(path)
    assert again == network
    assert list(again.graph) == list(network.graph)
    assert again.graph.edges == network.graph.edges
    assert path.read_bytes().isascii()
    assert [file.name for file in tmp_path.iterdir()] == ["x.bif"]


@pytest.mark.parametrize("name", structures.names())
def test_structures_survive_unchanged(tmp_path, name):
    network = structures.load(name)
    network.to_bif(tmp_path / "x.bif.gz")
    assert BayesNet.from_bif(tmp_path / "x.bif.gz") == network
    assert b"property" not in gzip.decompress((tmp_path / "x.bif.gz").read_bytes())


@cache
def pgmpy_reader():
    """pgmpy's class that reads BIF files; its grammars, the same for all files, are built once."""
    from pgmpy.readwrite import BIFReader

    variables = BIFReader.get_variable_grammar(None)
    probabilities = BIFReader.get_probability_grammar(None)

    class Reader(BIFReader):
        def get_variable_grammar(self):
            return variables

        def get_probability_grammar(self):
            return probabilities

    return Reader


def read_with_pgmpy(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BayesNet.from_pgmpy(pgmpy_reader()(str(path)).get_model())


# All eleven agree; these are the quick ones, with CHILD's states and HAILFINDER's numbers.
@pytest.mark.parametrize("name", ["asia", "sachs", "child", "insurance", "hailfinder"])
def test_pgmpy_reads_the_same(tmp_path, name):
    ours = structures.load(name)
    assert read_with_pgmpy(structures.path(name)) == ours
    ours.to_bif(tmp_path / "x.bif")
    assert read_with_pgmpy(tmp_path / "x.bif") == ours


def test_pgmpy_reads_awkward_names(tmp_path):
    variables = [*AWKWARD, "A_B", "table1", "a default2", "variable", "<5", "probability"]
    graph = nx.DiGraph()
    graph.add_nodes_from(variables)
    graph.add_edges_from(itertools.pairwise(variables))
    graph.add_edge(variables[0], variables[2])
    states = {v: [f"{v} {i}" if i % 2 else AWKWARD[i] for i in range(3)] for v in variables}
    rng = np.random.default_rng(0)
    tables = {v: rng.dirichlet([1, 1, 1], size=[3] * graph.in_degree(v)) for v in graph}
    network = BayesNet(graph, states, tables)
    network.to_bif(tmp_path / "x.bif")
    assert BayesNet.from_bif(tmp_path / "x.bif") == network
    other = read_with_pgmpy(tmp_path / "x.bif")
    written = dict(zip(network.graph, other.graph, strict=True))
    assert written["a_b"] == "a_b"
    for variable in variables:
        parents = [written[parent] for parent in network.parents(variable)]
        axes = [parents.index(parent) for parent in other.parents(written[variable])]
        table = network.table(variable).transpose(*axes, len(axes))
        assert np.array_equal(other.table(written[variable]), table)


def test_names_are_replaced_numbered_and_kept(tmp_path):
    graph = nx.DiGraph([("a b", "a_b")])
    graph.add_node("A_b")
    states = {"a b": ["<5", "5, 6"], "a_b": ["x", "x?", "x!"], "A_b": ["n"]}
    tables = {"a b": [0.5, 0.5], "a_b": [[0.1, 0.2, 0.7]] * 2, "A_b": [1]}
    BayesNet(graph, states, tables).to_bif(tmp_path / "x.bif")
    assert (tmp_path / "x.bif").read_text().splitlines() == [
        "network unknown {",
        "}",
        "variable a_b_2 {",
        "  type discrete [ 2 ] { <5, 5__6 };",
        "  property bnmtl_name = a%20b;",
        "  property bnmtl_states = %3C5, 5%2C%206;",
        "}",
        "variable a_b {",
        "  type discrete [ 3 ] { x, x_, x__2 };",
        "  property bnmtl_states = x, x%3F, x%21;",
        "}",
        "variable A_b_3 {",
        "  type discrete [ 1 ] { n };",
        "  property bnmtl_name = A_b;",
        "}",
        "probability ( a_b_2 ) {",
        "  table 0.5, 0.5;",
        "}",
        "probability ( a_b | a_b_2 ) {",
        "  (<5) 0.1, 0.2, 0.7;",
        "  (5__6) 0.1, 0.2, 0.7;",
        "}",
        "probability ( A_b_3 ) {",
        "  table 1.0;",
        "}",
    ]


def test_the_whole_grammar_is_read(tmp_path):
    text = """
    // a comment
    network "Dog-Problem" { property author = "me; too"; }
    probability ( wet | rain, "cold day" ) {
      default 0.5, 0.5;  /* where nothing
      else is said */
      ("yes", no) 1E-05, 9.9999e-1;
      property note = (1, 2);
    }
    variable wet { type discrete [2] { <5 >=5 }; property position = (3, 4); }
    variable rain { property a = b; type discrete[2]{no,yes}; }
    variable "cold day" { type discrete [ 2 ] { no, Asy/Patch }; }
    probability("cold day" | rain) { table .1 .2 .9 .8; }
    probability(rain) { table 1, 0; }
    """
    network = read(tmp_path, "\ufeff" + text.replace("\n", "\r\n"))
    assert list(network.graph) == ["wet", "rain", "cold day"]
    assert network.states["wet"] == ("<5", ">=5")
    assert network.parents("wet") == ("cold day", "rain")
    assert network.table("wet").tolist() == [[[0.5, 0.5], [1e-05, 0.99999]], [[0.5, 0.5]] * 2]
    assert network.table("cold day").tolist() == [[0.1, 0.9], [0.2, 0.8]]


MISTAKES = [
    ("network unknown", "netwrk unknown", 1, "begin with `network`; `netwrk` was found"),
    ("variable wet", "variable rain", 6, "variable `rain` again"),
    ("{ no, yes };\n}\nprob", "{ no, no };\n}\nprob", 7, "state `no` of `wet` twice"),
    ("[ 2 ]", "[ 3 ]", 4, "list 3 states of `rain`; it lists 2"),
    ("type discrete", "type continuous", 4, "`discrete`, the only .* `continuous` was found"),
    ("{ no, yes }", "{ no, yes, }", 4, "a state of `rain`; `}` was found"),
    ("[ 2 ] { no, yes }", "[ 3 ] { no, yes maybe }", 4, "list 3 states of `rain`; it lists 2"),
    ("{ no, yes }", '{ no, "yes }', 4, "close its quote"),
    ("{ no, yes }", '{ no, "" }', 4, 'a state of `rain`; `""` was found'),
    ("{ no, yes }", "{ no yes maybe }", 4, "list 2 states of `rain`; it lists 3"),
    ("{ no, yes }", "{ (0,1], (1,2] }", 4, r"2 states .* lists 4: put .* `\(0,1\]`, in quotes\.$"),
    ("{ no, yes }", "{ (0;1], (1;2] }", 4, "a state of `rain`; `;` was found: put .*, in quotes"),
    ("(no)", "((0,1])", 13, "a state; `;` was found: put what holds a mark, .*, in quotes"),
    (
        "network unknown",
        "network my net",
        1,
        "one name .*; `net` was found: put the name in",
    ),
    ("variable rain", "variable rain, wet", 3, "declare one variable, .* `rain, wet` was found"),
    ("variable rain", "variable | rain", 3, r"declare one variable, .* `\| rain` was found"),
    ("variable rain", 'variable "rain" fall', 3, 'one variable, .* `"rain" fall` was found'),
    ("variable rain", "variable", 3, "the name of a variable; `{` was found"),
    ("  type discrete [ 2 ] { no, yes };\n}\nvar", "}\nvar", 3, "`rain` without a type"),
    ("probability ( rain", "/* probability ( rain", 9, "close its comment"),
    ("probability ( rain )", "probability ( snow )", 9, "`snow`, which is not declared"),
    ("( wet | rain )", "( wet | snow )", 12, "`snow`, which is not declared"),
    ("( wet | rain )", "( wet | snow fall )", 12, "`snow fall`, which is not declared"),
    ("( wet | rain )", "( wet rain fall )", 12, "`fall`, which is not declared"),
    ("( wet | rain )", '( "wet" "rain fall" )', 12, "`rain fall`, which is not declared"),
    ("( wet | rain )", "( | )", 12, r"the name of a variable; `\)` was found"),
    ("( wet | rain )", "( wet | rain ", 12, "the name of a variable; `{` was found"),
    ("( wet | rain )", "( wet | rain, rain )", 12, "`rain` a parent of `wet` twice"),
    ("( wet | rain )", "( wet | wet )", 12, "`wet` its own parent"),
    ("( wet | rain )", "( rain | rain )", 12, "another probability block of `rain`"),
    ("( rain ) {\n  table 0.8, 0.2", "( rain | wet ) {\n  default 0.8, 0.2", 12, "the cycle"),
    ("(yes) 0.25, 0.75", "(maybe) 0.25, 0.75", 14, "of `rain`, `no`, `yes`; `maybe` is"),
    ("(yes) 0.25, 0.75", "(no) 0.25, 0.75", 14, r"repeats row \(no\) of `wet`"),
    ("(yes) 0.25, 0.75", "(yes yes) 0.25, 0.75", 14, "`no`, `yes`; `yes yes` is not one"),
    ("(yes) 0.25, 0.75", '("yes" "no") 0.25, 0.75', 14, "must name 1 parent state .* names 2"),
    ("(yes) 0.25, 0.75", "(yes,) 0.25, 0.75", 14, r"a state; `\)` was found"),
    ("(yes) 0.25, 0.75", "() 0.25, 0.75", 14, r"a state; `\)` was found"),
    ("(yes) 0.25, 0.75", "(yes 0.25, 0.75", 14, "a state; `;` was found"),
    ("(yes) 0.25, 0.75", "(yes, no) 0.25, 0.75", 14, "must name 1 parent state in .* it names 2"),
    ("  (yes) 0.25, 0.75;\n", "", 12, r"row \(yes\) or a default; 1 of 2 rows"),
    ("0.25, 0.75", "0.25, 0.7", 14, "`wet` .* sum to 1; they sum to 0.95"),
    ("0.25, 0.75", "1.25, -0.25", 14, "`-0.25` is negative"),
    ("0.25, 0.75", "0.25, 0.75, 0", 14, "2 probabilities; it gives 3"),
    ("0.25, 0.75", "0.25, nan", 14, "`nan` is not a number"),
    ("0.25, 0.75", "0.25, 1_0", 14, "`1_0` is not a number"),
    ("0.25, 0.75", "0.25,, 0.75", 14, "a probability; `,` was found"),
    ("0.25, 0.75;", "0.25, 0.75", 15, "a probability; `}` was found"),
    ("table 0.8, 0.2;", "table 0.8, 0.3;", 10, "they sum to 1.1"),
    ("table 0.8, 0.2;", "table 1e999, 0;", 10, "they sum to inf"),
    ("table 0.8, 0.2;", "table 0.8, 0.2; table 1, 0;", 10, "another `table` of `rain`"),
    ("table 0.8, 0.2;", "", 9, "`rain` no probabilities"),
    ("table 0.8, 0.2;", "table 0.8, 0.2; default 1, 0;", 10, "a table and other rows"),
    ("table 0.8, 0.2;", "tble 0.8, 0.2;", 10, "`tble` was found"),
    ("table 0.8, 0.2;", "property a = b }", 10, "end a property with `;`"),
    ("table 0.8", "table\x00 0.8", 10, r"not hold the character '\\x00'"),
    (
        "probability ( rain ) {\n  table 0.8, 0.2;\n}\n",
        "",
        3,
        "`rain`, which has no probability block",
    ),
    ("0.75;\n}\n", "0.75;\n} }\n", 15, "`variable` or `probability`; `}` was found"),
    ("yes };", "yes }; property bnmtl_states = a;", 4, "must give 2 different states"),
    ("yes };", "yes };\n property bnmtl_states = a,%ff;", 5, "escape names; `%ff` is wrong"),
    (
        "yes };\n}\nprob",
        "yes }; property bnmtl_name = rain;\n}\nprob",
        6,
        "another variable called 'rain'",
    ),
]


# pgmpy 1804: JavaBayes writes names in quotes, without marks in heads and with comments, as the
# description of BIF 0.15 has it; the child varies slowest in its tables.
JAVA = """\
// Bayesian network
network "Rain" { //2 variables and 2 probability distributions
  property "credal-set constant-density-bounded 1.1" ;
}
variable  "rain" { //2 values
  type discrete[2] {  "no"  "yes" };
  property "position = (73, 165)" ;
}
variable  "wet" { //2 values
  type discrete[2] {  "no"  "yes" };
}
probability (  "rain" ) { //1 variable(s) and 2 values
  table 0.8 0.2 ;
}
probability (  "wet"  "rain" ) { //2 variable(s) and 4 values
  table 0.9 0.25 0.1 0.75 ;
}
"""
# pgmpy 2611: what R's bnlearn writes has the blanks of levels and of names, without quotes.
FROM_R = """\
network unknown {
}
variable Age group {
  type discrete [ 3 ] { under 18, 18 to 64, 65 (or more) };
}
variable Little interest {
  type discrete [ 2 ] { Not at all, Several days };
}
variable Site {
  type discrete [ 1 ] { New York };
}
probability ( Age group ) {
  table 0.25, 0.5, 0.25;
}
probability ( Little interest | Age group, Site ) {
  (under 18, New York) 0.25, 0.75;
  (18 to 64, New York) 0.5, 0.5;
  (65 (or more), New York) 1.0, 0.0;
}
probability ( Site | Age group ) {
  (under 18) 1;
  (18 to 64) 1;
  (65 (or more)) 1;
}
"""


def test_files_of_javabayes(tmp_path):
    assert read(tmp_path, JAVA) == read(tmp_path, GOOD)


@pytest.mark.parametrize(
    "head",
    [
        "wet rain",
        "wet, rain",
        "wet , rain",
        "wet | rain,",
        '"wet" "rain"',
        '"wet" | rain',
        "wet rain |",
    ],
)
def test_bars_and_commas_are_blanks_in_heads(tmp_path, head):
    assert read(tmp_path, GOOD.replace("wet | rain", head)) == read(tmp_path, GOOD)


def test_files_of_r_with_blanks(tmp_path):
    network = read(tmp_path, FROM_R)
    assert network.states == {
        "Age group": ("under 18", "18 to 64", "65 (or more)"),
        "Little interest": ("Not at all", "Several days"),
        "Site": ("New York",),
    }
    assert network.parents("Little interest") == ("Age group", "Site")
    assert network.table("Age group").tolist() == [0.25, 0.5, 0.25]
    assert network.table("Little interest")[:, 0].tolist() == [[0.25, 0.75], [0.5, 0.5], [1, 0]]
    network.to_bif(tmp_path / "ours.bif")
    assert BayesNet.from_bif(tmp_path / "ours.bif") == network


def test_labels_place_rows_in_any_order(tmp_path):
    """pgmpy 1022: rows are where their labels say, not in the order of the file."""
    rows = "  (no) 0.9, 0.1;\n", "  (yes) 0.25, 0.75;\n"
    assert read(tmp_path, GOOD.replace("".join(rows), "".join(rows[::-1]))) == read(tmp_path, GOOD)


BLANKS = """\
network unknown {{ }}
variable a {{ type discrete [ 2 ] {{ {states} }}; }}
variable b {{ type discrete [ 2 ] {{ x, y }}; }}
variable c {{ type discrete [ 2 ] {{ no, yes }}; }}
probability ( a ) {{ table 0.5, 0.5; }}
probability ( b ) {{ table 0.5, 0.5; }}
probability ( c | {parents} ) {{
  ({row}) 0.25, 0.75;
  default 0.5, 0.5;
}}
"""


@pytest.mark.parametrize(
    "states, parents, row, at",
    [
        ("not x, x", "a", "not x", 0),  # one parent: the whole text is a state
        ("not  x, not x", "a", "not x", 1),  # blanks count
        ("not\n  x, x", "a", "not /* again */ x", 0),  # those of a line end and a comment do not
        ("x, not x", "a", '"not x"', 1),
        ("x y, x", "a, b", "x y, y", (0, 1)),  # with commas: what stands between
        ("x, y z", "a, b", "y z, x", (1, 0)),
        ("x, y", "a, b", "y x", (1, 0)),  # without: words
        ("x y", "a, b", "y y", (1, 1)),
        ('"x y", x', "a, b", '"x y" y', (0, 1)),
        ('"x, y", x', "a, b", '"x, y", y', (0, 1)),
        ("[0_5_, _5_10]", "a", "[0_5_", 0),  # cut points as R has them
        ("a|b, c", "a", "a|b", 0),
        ("a (b), c", "a", "a (b)", 0),
    ],
)
def test_blanks_in_states_and_rows(tmp_path, states, parents, row, at):
    network = read(tmp_path, BLANKS.format(states=states, parents=parents, row=row))
    found = np.argwhere(network.table("c")[..., 0] == 0.25).tolist()
    assert found == [[at] if isinstance(at, int) else list(at)]


@pytest.mark.parametrize(
    "states, parents, row, message",
    [
        ("x y, x", "a, b", "x y y", "must name 2 parent states in a row of `c`; it names 3"),
        ("x y, x", "a, b", "y x", "a state of `a`, `x y`, `x`; `y` is not one"),
        ("x y, x", "a", "x, y", "must name 1 parent state in a row of `c`; it names 2"),
        ("not  x, x", "a", "not x", "a state of `a`, `not  x`, `x`; `not x` is not one"),
        ("[0,5], [5,10]", "a", "[0,5]", "must list 2 states of `a`; it lists 4"),
    ],
)
def test_rows_that_fit_in_no_way(tmp_path, states, parents, row, message):
    with pytest.raises(ValueError, match=rf"^File `.*x\.bif`, line \d+ .*{message}"):
        read(tmp_path, BLANKS.format(states=states, parents=parents, row=row))


@pytest.mark.parametrize("head", ["c | a b", "c, a b", '"c" a b', "c a b"])
def test_heads_that_may_be_read_in_two_ways_are_refused(tmp_path, head):
    text = BLANKS.format(states="x, y", parents="a, b", row="x, y")
    first = read(tmp_path, text)
    if "|" in head or "," in head or '"' in head:
        assert read(tmp_path, text.replace("c | a, b", head)) == first
    more = "variable a b { type discrete [ 1 ] { n }; } probability ( a b | a, b ) { default 1; }"
    more = more.replace("a b |", '"a b" |') + " variable c a b { type discrete [ 1 ] { n }; }"
    more += ' probability ( "c a b" ) { default 1; }'
    assert len(read(tmp_path, text + more).variables) == 5
    words = "c a b" if head == "c a b" else "a b"
    listed = ", ".join(f"`{word}`" for word in words.split())
    with pytest.raises(
        ValueError, match=r"x\.bif`, line 7 must name variables in one way; "
    ) as caught:
        read(tmp_path, text.replace("c | a, b", head) + more)
    assert f"; `{words}` may be one or {listed}: put each name into quotes." in str(caught.value)


def written_by_r(network):
    """The text that R's `write.bif` prints, with all digits."""
    lines = ["network unknown {", "}"]
    for name, states in network.states.items():
        listed = ", ".join(states)
        lines += [f"variable {name} {{", f"  type discrete [ {len(states)} ] {{ {listed} }};", "}"]
    for name, states in network.states.items():
        parents, rows = network.parents(name), network.table(name).reshape(-1, len(states))
        given = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( {name}{given} ) {{")
        labels = itertools.product(*(network.states[parent] for parent in parents))
        for label, row in zip(labels, rows.tolist(), strict=True):
            start = f"({', '.join(label)})" if parents else "table"
            lines.append(f"  {start} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def written_by_javabayes(network):
    """The text that JavaBayes saves: everything in quotes, no marks, the child slowest."""
    lines = ['network "Internal-Network" { //some variables', "}"]
    for name, states in network.states.items():
        listed = "  ".join(f'"{state}"' for state in states)
        lines += [
            f'variable  "{name}" {{ //values',
            f"\ttype discrete[{len(states)}] {{  {listed} }};",
        ]
        lines.append("}")
    for name, states in network.states.items():
        numbers = network.table(name).reshape(-1, len(states)).T.ravel().tolist()
        listed = "  ".join(f'"{member}"' for member in (name, *network.parents(name)))
        lines += [f"probability (  {listed} ) {{", f"\ttable {' '.join(map(repr, numbers))} ;", "}"]
    return "\n".join(lines) + "\n"


WORDS = ["a", "b", "c", "Not", "18", "<5", "[0_5_", "(kg)", "table", "variable"]
BLANK_NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
QUOTED_NAMES = st.text("ab|,;{}() /*é'", min_size=1, max_size=4).filter(lambda s: s == s.strip())


@given(networks(BLANK_NAMES | st.just("a  b")))
@settings(FILES, max_examples=50)
def test_files_of_r_read_back_or_are_ambiguous(tmp_path, network):
    names = set(network.variables)
    text = written_by_r(network)
    if any(" " in name and names.issuperset(name.split()) for name in names):
        with pytest.raises(ValueError, match=r"x\.bif`, line \d+ must name variables in one way; "):
            read(tmp_path, text)
    else:
        assert read(tmp_path, text) == network


@given(networks(QUOTED_NAMES))
@settings(FILES, max_examples=50)
def test_files_of_javabayes_read_back(tmp_path, network):
    assert read(tmp_path, written_by_javabayes(network)) == network


@given(st.sampled_from([GOOD, JAVA, FROM_R]), st.data())
@settings(FILES, max_examples=50)
def test_changed_files_are_read_or_refused_in_one_sentence(tmp_path, text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = begin + data.draw(st.integers(0, 20))
        pieces = (
            '{ } ( ) [ ] , ; | " // /* */ default 1e999 99999999999999999999 -1 \0 \ud7ff property'
        )
        piece = data.draw(st.sampled_from([*pieces.split(" "), text[begin:end], " ", ""]))
        text = text[:begin] + piece + text[end if data.draw(st.booleans()) else begin :]
    with little_memory(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            assert read(tmp_path, text).variables
        except ValueError as error:
            assert re.match(r"File `[^`]*x\.bif`, line \d+ .*\.$", str(error), re.DOTALL)


def with_default(n_parents, n_states=2, row=""):
    """A short file with a variable that has many parents and a default."""
    listed, even = ", ".join("abc"[:n_states]), ", ".join([str(1 / n_states)] * n_states)
    parents = [f"x{i}" for i in range(n_parents)]
    lines = ["network unknown { }", "variable y { type discrete [ 2 ] { n, p }; }"]
    for name in parents:
        lines.append(f"variable {name} {{ type discrete [ {n_states} ] {{ {listed} }}; }}")
        lines.append(f"probability ( {name} ) {{ default {even}; }}")
    return "\n".join(
        [*lines, f"probability ( y | {', '.join(parents)} ) {{ {row} default 0.5, 0.5; }}"]
    )


@pytest.mark.parametrize(
    "n_parents, n_states, row, message",
    [
        (22, 2, "", r"leave at most 4,194,304 cells of `y` to `default`; with 22 .* 8,388,608: "),
        (25, 2, "", r"leave at most 4,194,304 cells of `y` to `default`; with 25 .* 67,108,864: "),
        (25, 2, f"({', '.join('a' * 25)}) 0, 1;", "with 25 parents there would be 67,108,862: "),
        (
            26,
            2,
            "",
            r"table of at most 67,108,864 cells over 63 .* with 26 .* 1\.34e\+08 over 27: ",
        ),
        (30, 2, "", r"give `y` a table of at most .* would have 2\.15e\+09 over 31: remove"),
        (63, 2, "", r"give `y` a table of at most .* would have 1\.84e\+19 over 64: remove"),
        (63, 1, "", "give `y` a table of at most .* with 63 parents it would have 2 over 64: "),
        (700, 3, "", r"give `y` a table of at most .* would have 1\.93e\+334 over 701: "),
    ],
)
def test_tables_are_refused_before_they_need_memory(tmp_path, n_parents, n_states, row, message):
    text = with_default(n_parents, n_states, row)
    line = text.count("\n") + 1
    with (
        little_memory(2**22),
        pytest.raises(ValueError, match=rf"x\.bif`, line {line} must .*{message}"),
    ):
        read(tmp_path, text)


def test_the_limits_of_defaults(tmp_path, monkeypatch):
    assert read(tmp_path, with_default(62, 1)).table("y").shape == (1,) * 62 + (2,)
    monkeypatch.setattr(bif, "LARGEST_DEFAULT", 2**4)
    assert read(tmp_path, with_default(3)).table("y").tolist() == np.full((2,) * 4, 0.5).tolist()
    with pytest.raises(ValueError, match="16 cells of `y` to `default`; with 4 .* would be 32:"):
        read(tmp_path, with_default(4))
    rows = "".join(f"({', '.join(row)}) 0, 1;" for row in itertools.product("ab", repeat=4))
    assert read(tmp_path, with_default(4, row=rows)).table("y").min() == 0
    monkeypatch.setattr(bif, "LARGEST_TABLE", 20)
    with pytest.raises(ValueError, match="20 cells of all variables .* with those of `y` .* 22:"):
        read(tmp_path, with_default(3))


@pytest.mark.parametrize("old, new, line, message", MISTAKES)
def test_mistakes_name_file_and_line(tmp_path, old, new, line, message):
    assert old in GOOD
    with pytest.raises(ValueError, match=rf"x\.bif`, line {line} .*{message}"):
        read(tmp_path, GOOD.replace(old, new, 1))


def test_no_beginning_of_a_file_is_accepted(tmp_path):
    assert len(read(tmp_path, GOOD).variables) == 2
    for length in range(len(GOOD.rstrip())):
        with pytest.raises(ValueError, match=r"^File `.*x\.bif`, line \d+ "):
            read(tmp_path, GOOD[:length])


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "line 1 .*; the file is empty"),
        (b"\n\n// only a comment\n", "line 1 .*; the file is empty"),
        (b"network x {\n}\n", "line 3 ends a file that declares no variable"),
        (b"network x {\n}\nvariable \xff", "line 3 must be text in UTF-8"),
        (bytes(range(128)), "line 1 must not hold the character"),
        (gzip.compress(GOOD.encode()), "line 1 must be text in UTF-8"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, content)


def test_compressed_files(tmp_path):
    content = gzip.compress(GOOD.encode())
    assert read(tmp_path, content, "x.bif.gz") == read(tmp_path, GOOD)
    for damaged in (content[:-9], GOOD.encode(), content[:30] + b"xx" + content[32:]):
        with pytest.raises(ValueError, match=r"x\.bif\.gz` must be compressed by gzip"):
            read(tmp_path, damaged, "x.bif.gz")


def test_other_paths_are_refused(tmp_path):
    network = read(tmp_path, GOOD)
    for name in ("x.txt", "bif", "x.bif.zip"):
        with pytest.raises(ValueError, match=r"must end in \.bif or \.bif\.gz"):
            network.to_bif(tmp_path / name)
        with pytest.raises(ValueError, match=r"must end in \.bif or \.bif\.gz"):
            BayesNet.from_bif(tmp_path / name)
    for wrong, shown in ((None, "None"), (3, "int"), (["x.bif"], "list"), (BayesNet, "the class")):
        with pytest.raises(TypeError, match=f"`path` must be a path, got {shown}"):
            network.to_bif(wrong)
        with pytest.raises(TypeError, match=f"`path` must be a path, got {shown}"):
            BayesNet.from_bif(wrong)


def test_files_that_cannot_be_opened_are_named_as_given(tmp_path):
    network = read(tmp_path, GOOD)
    path = tmp_path / "none" / "x.bif"
    with pytest.raises(FileNotFoundError) as caught:
        network.to_bif(path)
    assert str(caught.value) == (
        f"`path` must lie in an existing folder, got `{path}`; the folder `{path.parent}` does not "
        "exist, so make it first."
    )
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*none/x\.bif'"):
        BayesNet.from_bif(path)
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(IsADirectoryError, match=r"Is a directory: '.*/folder\.bif'"):
        network.to_bif(tmp_path / "folder.bif")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.bif", "x.bif"]


def test_rows_a_little_off_are_rescaled_with_a_warning(tmp_path):
    text = GOOD.replace("0.9, 0.1", "0.9005, 0.1").replace("0.25, 0.75", "0.25, 0.7500001")
    with pytest.warns(
        UserWarning, match=r"x\.bif` has 1 row of probabilities that did not sum to 1"
    ):
        network = read(tmp_path, text)
    with pytest.warns(UserWarning) as caught:
        BayesNet.from_bif(tmp_path / "x.bif")
    assert [warning.filename for warning in caught] == [__file__]
    assert network.table("wet")[0].sum() == pytest.approx(1, abs=1e-12)
    assert network.table("wet")[1].tolist() == [0.25, 0.7500001]


def test_writing_is_repeatable_and_leaves_the_old_file_on_failure(tmp_path, monkeypatch):
    network = read(tmp_path, GOOD)
    for name in ("a.bif.gz", "b.bif.gz"):
        network.to_bif(tmp_path / name)
    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()
    assert (tmp_path / "a.bif.gz").read_bytes()[4:8] == bytes(4)  # no time stamp

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        structures.load("asia").to_bif(tmp_path / "x.bif")
    assert (tmp_path / "x.bif").read_text() == GOOD
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.bif.gz", "b.bif.gz", "x.bif"]
