"""Configurations along a grid of penalties: what starts from what, and that it never gets worse."""

import itertools

import networkx as nx
import numpy as np
import pytest
from small import CLIMB, ONE_GROUP, partial

from bnmtl import BDeu, EditPrior, HillClimbing, MultitaskLearner, PairedPrior, SingleTaskLearner
from bnmtl.graphs import from_adjacency
from bnmtl.progress import Reporter
from bnmtl.search.effort import Effort
from bnmtl.search.grouped import complete, greedy_path, solve_path
from bnmtl.search.multitask import MultitaskSearch, Solution
from bnmtl.search.problem import TaskProblem, constraints_by_task
from bnmtl.tasks import encode

GRID = [1.0, 1 - 1e-6, 0.999, 0.99, 0.9, 0.5, 0.2, 0.0]
# Every third penalty and the last are searched from all starts.
ANCHORS = [0, 3, 6, 7]
TASKS = encode(partial())
EFFORT = Effort(seed=0, search=HillClimbing(restarts=0, tabu=0))


def new_search(effort=EFFORT):
    problems = TaskProblem.of_all(TASKS, BDeu(), constraints_by_task(TASKS, (), (), None, None))
    return MultitaskSearch(problems, effort, Reporter(False))


def solved(kind=PairedPrior, effort=EFFORT, grid=GRID, report=None):
    """A search, the priors of a grid and the path of solutions."""
    search, priors = new_search(effort), [kind(penalty) for penalty in grid]
    starts = search.starts(priors, ("single-task", "empty"))
    return search, priors, starts, solve_path(search, priors, starts, effort, report)


def plain(solutions):
    return [(one.score, one.start, [m.tolist() for m in one.matrices]) for one in solutions]


@pytest.mark.parametrize("kind", [PairedPrior, EditPrior])
def test_scores_are_those_of_the_configurations(kind):
    _, priors, _, path = solved(kind)
    for prior, solution in zip(priors, path, strict=True):
        pairs = zip(TASKS.values(), solution.matrices, strict=True)
        graphs = {task.name: from_adjacency(m, task.variables) for task, m in pairs}
        task_scores = [BDeu().score(graph, TASKS[name].frame()) for name, graph in graphs.items()]
        assert solution.task_scores == pytest.approx(task_scores, rel=1e-12)
        assert solution.score == pytest.approx(
            sum(task_scores) + prior.log_prior(graphs), rel=1e-12
        )
        assert all(nx.is_directed_acyclic_graph(graph) for graph in graphs.values())


@pytest.mark.parametrize("kind", [PairedPrior, EditPrior])
def test_every_penalty_is_at_least_as_good_as_its_neighbor_and_its_starts(kind):
    search, priors, starts, path = solved(kind)
    for at in ANCHORS:
        from_starts = search.solve(priors[at], starts)
        assert path[at].score >= from_starts.score - search.tolerance
        if path[at].start != "path":
            assert plain([path[at]]) == plain([from_starts])
    for at, prior in enumerate(priors[:-1]):
        from_below = search.follow(prior, path[at + 1].matrices, EFFORT)
        assert path[at].score >= from_below.score - search.tolerance
    for at, prior in enumerate(priors[1:-1], start=1):
        if path[at].start == "path":
            followed = search.follow(prior, path[at].matrices, EFFORT)
            assert followed.score == pytest.approx(path[at].score)


def test_the_grid_may_be_one_penalty():
    search, priors, starts, path = solved(grid=[0.9])
    assert plain(path) == plain([search.solve(priors[0], starts)])


def test_threads_find_what_one_finds():
    one, other = (solved(effort=Effort(**{**vars(EFFORT), "n_jobs": n}))[3] for n in (1, 3))
    assert plain(one) == plain(other)


def test_at_penalty_zero_tasks_are_learned_separately():
    """Even where a neighbor's solution would be better than the search for single tasks is."""
    alone = SingleTaskLearner(**CLIMB).fit(TASKS).configuration_
    last = solved()[3][-1]
    assert last.start == "single-task"
    for task, matrix in zip(TASKS.values(), last.matrices, strict=True):
        assert set(from_adjacency(matrix, task.variables).edges) == set(alone[task.name].edges)
    everywhere = solved(grid=[0.0])[3]
    assert plain(everywhere) == plain([last])


def test_following_is_the_greedy_search_from_there():
    search, priors, _, path = solved()
    for (at, solution), prior in itertools.product(enumerate(path), (priors[2], priors[4])):
        pairs = zip(TASKS.values(), solution.matrices, strict=True)
        start = {task.name: from_adjacency(matrix, task.variables) for task, matrix in pairs}
        greedy = MultitaskLearner(prior, start=start, **ONE_GROUP, **CLIMB).fit(TASKS)
        followed = search.follow(prior, solution.matrices, EFFORT)
        assert followed.score == greedy.score_, at
        assert followed.start == "path"
        before = [matrix.copy() for matrix in solution.matrices]
        assert all(np.array_equal(*two) for two in zip(before, solution.matrices, strict=True))


class Scripted:
    """Stands in for a search: scores by (penalty, where it comes from), and what was asked."""

    tolerance = 1e-9

    def __init__(self, scores, uncoupled=()):
        self.scores, self._uncoupled, self.asked = scores, uncoupled, []

    def is_uncoupled(self, prior):
        return prior in self._uncoupled

    def solve(self, prior, starts, report=None, effort=None):
        self.asked.append((prior, "starts"))
        return self._solution(prior, "starts")

    def follow(self, prior, matrices, effort):
        self.asked.append((prior, matrices))
        return self._solution(prior, matrices)

    def uncoupled(self, effort):
        return Solution("apart", 0.0, [], "single-task", {"single-task": 0.0})

    def _solution(self, prior, source):
        score = self.scores.get((prior, source), -float(prior))
        start = "empty" if source == "starts" else "path"
        return Solution(f"{prior} from {source}", score, [], start, {start: score})


def test_the_path_goes_down_and_up_again():
    search = Scripted({})
    solve_path(search, [5, 4, 3, 2, 1], None, EFFORT)
    anchors, followed = search.asked[:3], search.asked[3:]
    assert anchors == [(5, "starts"), (2, "starts"), (1, "starts")]
    assert [prior for prior, _ in followed] == [4, 3, 2, 1, 2, 3, 4, 5]
    assert [source[0] for _, source in followed] == ["5", "4", "3", "2", "1", "2", "3", "4"]


def test_the_better_score_is_kept_and_handed_on():
    first, second = "5 from starts", "4 from 5 from starts"
    better = f"3 from {second}"
    search = Scripted({(3, second): 7.0, (2, better): 8.0, (1, "starts"): 9.0, (2, "starts"): 0.0})
    path = solve_path(search, [5, 4, 3, 2, 1], None, EFFORT)
    # What ties within the tolerance stays: 5, 4 and 3 gain nothing on the way up.
    expected = [first, second, better, f"2 from {better}", "1 from starts"]
    assert [one.matrices for one in path] == expected
    assert [one.score for one in path] == [-5.0, -4.0, 7.0, 8.0, 9.0]


def test_penalties_that_couple_nothing_are_neither_followed_nor_replaced():
    search = Scripted({(1, "2 from starts"): 100.0}, uncoupled=(3, 1))
    path = solve_path(search, [5, 4, 3, 2, 1], None, EFFORT)
    assert {prior for prior, source in search.asked if source == "starts"} == {5, 3, 2, 1}
    assert {prior for prior, source in search.asked if source != "starts"} == {5, 4, 2}
    assert path[2].start == path[4].start == "empty"


@pytest.mark.parametrize("n", [1, 2, 4, 5, 8])
def test_progress_counts_every_penalty_once(n):
    reported = []
    solve_path(Scripted({}), list(range(n, 0, -1)), None, EFFORT, reported.append)
    assert reported == list(range(1, n + 1))


def test_only_what_came_from_a_neighbor_is_searched_again():
    search = Scripted({(4, "starts"): 2.0})
    solution = Solution("own", 1.0, [], "empty", {"empty": 1.0})
    assert complete(search, 4, solution, None, None, EFFORT) is solution
    assert search.asked == []
    neighbor = Solution("neighbor", 1.0, [], "path", {"path": 1.0})
    better = complete(search, 4, neighbor, None, None, EFFORT)
    assert better.matrices == "4 from starts"
    assert better.start_scores == {"empty": 2.0, "path": 1.0}
    neighbor = Solution("neighbor", 3.0, [], "path", {"path": 3.0})
    kept = complete(search, 4, neighbor, None, None, EFFORT)
    assert (kept.matrices, kept.start) == ("neighbor", "path")
    assert kept.start_scores == {"empty": 2.0, "path": 3.0}


def test_a_violated_solution_gives_way_to_any_other():
    """Tasks that cannot agree from one start may from a neighbor's solution."""
    search = Scripted({(5, "starts"): -np.inf, (5, "4 from starts"): -50.0})
    path = solve_path(search, [5, 4], None, EFFORT)
    assert [one.matrices for one in path] == ["5 from 4 from starts", "4 from starts"]


def test_the_greedy_path_goes_up_from_separate_tasks_and_down_from_others():
    search = Scripted({}, uncoupled=(1,))
    path = greedy_path(search, [3, 2, 1], {"single-task": "single", "identical": "same"}, EFFORT)
    up, down = search.asked[:2], search.asked[2:]
    assert up == [(2, "single"), (3, "2 from single")]
    assert down == [(3, "same"), (2, "3 from same")]
    # What ties within the tolerance stays.
    assert [one.matrices for one in path] == ["3 from 2 from single", "2 from single", "apart"]


def test_the_greedy_path_keeps_the_better_score_at_every_penalty():
    search = Scripted({(3, "same"): 1.0, (2, "single"): 2.0, (2, "3 from same"): 1.0})
    path = greedy_path(search, [3, 2], {"single-task": "single", "identical": "same"}, EFFORT)
    assert [one.matrices for one in path] == ["3 from same", "2 from single"]
    assert (2, "3 from same") in search.asked


@pytest.mark.parametrize("kind", [PairedPrior, EditPrior])
def test_the_greedy_path_of_real_tasks(kind):
    search, priors, starts, _ = solved(kind)
    path = greedy_path(search, priors, starts, EFFORT)
    assert plain([path[-1]]) == plain([search.uncoupled(EFFORT)])
    walk = starts["empty"]
    for prior, solution in zip(priors[:-1], path[:-1], strict=True):
        pairs = zip(TASKS.values(), solution.matrices, strict=True)
        graphs = {task.name: from_adjacency(m, task.variables) for task, m in pairs}
        data_score = sum(BDeu().score(graph, TASKS[name].frame()) for name, graph in graphs.items())
        assert solution.score == pytest.approx(data_score + prior.log_prior(graphs), rel=1e-12)
        followed = search.follow(prior, walk, EFFORT)
        walk = followed.matrices
        assert solution.score >= followed.score - search.tolerance
