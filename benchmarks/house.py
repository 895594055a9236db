"""Size of the package: files, lines of code and its largest functions and modules, by commit.

    python -m benchmarks.house                # the working tree
    python -m benchmarks.house 1a2b3c4 HEAD   # commits, and the change from the first to the last

A line of code is a line with a token of the language on it: blank lines, comments and docstrings
are not counted.
"""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def sources(commit=None, folder="bnmtl"):
    """Return the Python files of a folder of a commit, or of the working tree, as texts by path."""
    if commit is None:
        found = sorted((ROOT / folder).rglob("*.py"))
        return {path.relative_to(ROOT).as_posix(): path.read_text() for path in found}
    names = _git("ls-tree", "-r", "--name-only", commit, folder + "/").splitlines()
    return {name: _git("show", f"{commit}:{name}") for name in names if name.endswith(".py")}


def _git(*arguments):
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def code_lines(text):
    """Return the numbers of the lines with code."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def functions(text):
    """Yield each function that stands in no other: its name and number of lines of code."""
    lines = code_lines(text)
    todo = list(ast.parse(text).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ClassDef):
            todo.extend(node.body)
        elif isinstance(node, ast.FunctionDef):
            yield node.name, sum(node.lineno <= line <= node.end_lineno for line in lines)


def size(files):
    """Return the number of files and of their lines of code."""
    return len(files), sum(len(code_lines(text)) for text in files.values())


def main(commits):
    """Print the size of each commit and the largest modules and functions of the last one."""
    sizes = []
    for commit in commits or [None]:
        files = sources(commit)
        sizes.append(size(files))
        print(f"{commit or 'working tree'}: {sizes[-1][0]} files, {sizes[-1][1]} lines of code")
    if len(sizes) > 1:
        change = [100 * (new / old - 1) for old, new in zip(sizes[0], sizes[-1], strict=True)]
        print(f"change: files {change[0]:+.0f} %, lines {change[1]:+.0f} %")
    longest = sorted(
        ((n, f"{path}: {name}") for path, text in files.items() for name, n in functions(text)),
        reverse=True,
    )
    largest = sorted(((text.count("\n"), path) for path, text in files.items()), reverse=True)
    for title, found in [("functions (lines of code)", longest), ("modules (lines)", largest)]:
        print(f"largest {title}:", *(f"  {n:5d} {name}" for n, name in found[:8]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
