import gzip
import itertools
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmtl import structures
from bnmtl.io import read_bif, write_bif
from bnmtl.networks import BayesNet

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
    names = names or st.text(max_size=4) | st.sampled_from(AWKWARD)
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


@given(networks())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
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


def read_with_pgmpy(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.readwrite import BIFReader

        return BayesNet.from_pgmpy(BIFReader(str(path)).get_model())


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
    ("  type discrete [ 2 ] { no, yes };\n}\nvar", "}\nvar", 3, "`rain` without a type"),
    ("probability ( rain", "/* probability ( rain", 9, "close its comment"),
    ("probability ( rain )", "probability ( snow )", 9, "`snow`, which is not declared"),
    ("( wet | rain )", "( wet | snow )", 12, "`snow`, which is not declared"),
    ("( wet | rain )", "( wet | rain, rain )", 12, "`rain` a parent of `wet` twice"),
    ("( wet | rain )", "( wet | wet )", 12, "`wet` its own parent"),
    ("( wet | rain )", "( rain | rain )", 12, "another probability block of `rain`"),
    ("( rain ) {\n  table 0.8, 0.2", "( rain | wet ) {\n  default 0.8, 0.2", 12, "the cycle"),
    ("(yes) 0.25, 0.75", "(maybe) 0.25, 0.75", 14, "of `rain`, `no`, `yes`; `maybe` is"),
    ("(yes) 0.25, 0.75", "(no) 0.25, 0.75", 14, r"repeats row \(no\) of `wet`"),
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
    with pytest.raises(TypeError, match="`network` must be a BayesNet, got DiGraph"):
        write_bif(network.graph, tmp_path / "y.bif")


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
        read_bif(tmp_path / "x.bif")
    assert [warning.filename for warning in caught] == [__file__, __file__]
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

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        structures.load("asia").to_bif(tmp_path / "x.bif")
    assert (tmp_path / "x.bif").read_text() == GOOD
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.bif.gz", "b.bif.gz", "x.bif"]
