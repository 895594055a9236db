"""Damaged Parquet tables, rounds and stores of predictions, and small files that unpack to much."""

import gzip
import io
import json
import shutil
import zipfile

import numpy as np
import pandas as pd

from benchmarks.attack.leaks import Case, Wrong
from bnmtl import BayesNet, tasks
from bnmtl.ensembles import PredictionStore
from bnmtl.validation import Rounds

GIANT = 2 * 2**30  # bytes of a bomb when it is unpacked, more than the limit


def damaged(content, rng):
    """Some bytes with other bytes, fewer, or more; and what was done."""
    at = int(rng.integers(len(content)))
    n = int(rng.integers(1, 9))
    way = int(rng.integers(5))
    other = bytes(rng.integers(0, 256, n, dtype=np.uint8))
    flipped = bytes([content[at] ^ (1 << int(rng.integers(8)))])
    made = (
        content[:at],
        content[:at] + flipped + content[at + 1 :],
        content[:at] + other + content[at + n :],
        content[:at] + content[at + n :],
        content[:at] + other + content[at:],
    )[way]
    return made, f"{('ends', 'a bit', 'others', 'fewer', 'more')[way]} at {at} of {len(content)}"


def parquet(seed, folder):
    """Damaged Parquet tables."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    frame = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.choice(["u", "v"], n)})
    frame["c"], frame["d"] = frame["b"].astype("category"), rng.random(n)
    path = folder / "rows.parquet"
    compression = ("snappy", "gzip", None)[seed % 3]
    frame.to_parquet(path, compression=compression)
    content = path.read_bytes()

    def read(changed):
        path.write_bytes(changed)
        tasks.read(path)

    while True:
        changed, what = damaged(content, rng)
        yield Case(f"{compression}, {what}", lambda changed=changed: read(changed))


def odd_arrays(array, rng):
    """An array of wrong content, shape or type, by what is wrong."""
    nothing, first = np.zeros(0), np.arange(array.size).reshape(array.shape) == 0
    is_float = array.dtype.kind == "f"
    made = {
        "booleans": lambda: array.astype(bool) if is_float else array.astype(float) > 0,
        "complex": lambda: array.astype(complex) + 1j,
        "text": lambda: array.astype(str),
        "bytes": lambda: array.astype(str).astype("S"),
        "one NaN": lambda: np.where(first, np.nan, array),
        "one infinity": lambda: np.where(first, np.inf, array),
        "all NaN": lambda: np.full(array.shape, np.nan),
        "more than one": lambda: array * 1.8,
        "negative": lambda: -array,
        "one axis more": lambda: array[..., None],
        "one axis less": lambda: array.reshape(-1),
        "fewer": lambda: array[:-1],
        "empty": lambda: nothing,
        "a number": lambda: np.array(3.0),
        "dates": lambda: array.astype("M8[D]"),
        "objects": lambda: array.astype(object),
        "records": lambda: np.zeros(array.shape, [("p", float)]),
        "enormous": lambda: array.astype(np.longdouble) * 10,
        "other byte order": lambda: array.astype(array.dtype.newbyteorder()),
        "in columns": lambda: np.asfortranarray(array),
    }
    name = str(rng.choice(list(made)))
    try:
        return name, made[name]()
    except (TypeError, ValueError, IndexError):
        return "objects", array.astype(object)


def check_probabilities(p, is_binary=False):
    """Raise unless numbers that were accepted are probabilities that sum to 1, or missing."""
    if p.dtype.kind != "f":
        raise Wrong(f"accepted predictions of type {p.dtype}")
    known = p[np.isfinite(p).all(axis=-1)] if not is_binary else p[np.isfinite(p)]
    if (known < -1e-6).any() or (known > 1 + 1e-6).any():
        raise Wrong("accepted predictions that are not probabilities")
    if not is_binary and len(known) and not np.allclose(known.sum(axis=-1), 1, atol=1e-3):
        raise Wrong(f"accepted predictions that sum to {known.sum(axis=-1).max():.2f}")


def rounds(seed, folder):
    """Rounds with damaged bytes, and with arrays of wrong content."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 9)), int(rng.integers(2, 4))
    classes = np.arange(k) if seed % 2 else np.array(["a", "b", "c"][:k])
    y, in_bag = rng.integers(0, k, n), rng.integers(0, 2, (3, n))
    made = Rounds(rng.dirichlet(np.ones(k), (3, n)), classes[y], classes, in_bag)
    path = folder / "rounds.npz"
    made.save(path)
    content = path.read_bytes()
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}

    def read(changed):
        path.write_bytes(changed)
        found = Rounds.load(path)
        check_probabilities(found.predictions)
        found.score("accuracy")

    while True:
        if rng.random() < 0.4:
            changed, what = damaged(content, rng)
        else:
            part = str(rng.choice(list(arrays)))
            what, array = odd_arrays(arrays[part], rng)
            what, file = f"{part}: {what}", io.BytesIO()
            np.savez_compressed(file, **{**arrays, part: array})
            changed = file.getvalue()
        yield Case(what, lambda changed=changed: read(changed))


def stores(seed, folder):
    """Stores of predictions with damaged files, whose digests are right or not."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 9)), 2 + seed % 2
    y = np.arange(n) % k
    p = rng.dirichlet(np.ones(k), (3, n))
    good, path = folder / "good", folder / "store"
    if not good.exists():
        PredictionStore(p[:, :, 1] if k == 2 else p, y).save(good)
    files = sorted(file.relative_to(good) for file in good.rglob("*") if file.is_file())

    def read(name, changed, is_signed):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(good, path)
        (path / name).write_bytes(changed)
        if is_signed:
            _sign(path, name)
        store = PredictionStore.open(path)
        for part in store.parts:
            check_probabilities(np.asarray(store.predictions(part)), store.is_binary)
        store.score("accuracy")

    while True:
        name = files[int(rng.integers(len(files)))]
        content = (good / name).read_bytes()
        if name.suffix == ".npy" and rng.random() < 0.7:
            what, array = odd_arrays(np.load(good / name), rng)
            file = io.BytesIO()
            np.save(file, array)
            changed = file.getvalue()
        else:
            changed, what = damaged(content, rng)
        is_signed = bool(rng.random() < 0.7)
        call = lambda name=name, changed=changed, s=is_signed: read(name, changed, s)  # noqa: E731
        yield Case(f"{name}, {what}, {'signed' if is_signed else 'not signed'}", call)


def _sign(path, name):
    """Let the record of a store have the digest of a file that was changed."""
    from bnmtl.ensembles.folder import _digest

    if name.name == "store.json":
        return
    digest = _digest((path / name).read_bytes())
    record = json.loads((path / "store.json").read_text())
    if name.name == "cases.csv":
        record["parts"][name.parts[0]]["cases"] = digest
    elif name.suffix == ".npy":
        record["batches"][0]["predictions"][name.parts[0]] = digest
    (path / "store.json").write_text(json.dumps(record))


def _zeros(n):
    """Compressed zeros, whose unpacked size is n bytes: made once, of equal members."""
    member = gzip.compress(b"0" * 2**24, 1)
    return member * (n // 2**24)


def _npy_header(shape, kind):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def _zip(names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in names.items():
            with archive.open(name, "w", force_zip64=True) as member:
                for part in content:
                    member.write(part)
    return file.getvalue()


def bombs(seed, folder):
    """Small files that claim, or unpack to, more than memory should hold."""
    variables = "".join(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(60))
    parents = ", ".join(f"v{i}" for i in range(1, 40))
    many = ", ".join(f"s{i}" for i in range(200_000))
    made = {
        "rows.csv.gz": lambda: _zeros(GIANT),
        "rows.tsv.gz": lambda: gzip.compress(b"a\tb\n") + _zeros(GIANT),
        "n.bif.gz": lambda: _zeros(GIANT),
        "table.bif": lambda: (
            f"network n {{ }}\n{variables}probability ( v0 | {parents} ) {{ default 0.5, 0.5; }}\n"
        ).encode(),
        "states.bif": lambda: (
            f"network n {{ }}\nvariable v {{ type discrete [ 200000 ] {{ {many} }}; }}\n"
            "probability ( v ) { table 1; }\n"
        ).encode(),
        "claim.bif": lambda: (
            b"network n { }\nvariable v { type discrete [ 99999999999 ] { a }; }\n"
        ),
        "deep.bif": lambda: b"network n { }\nprobability " + b"(" * 1_000_000,
        "shape.npz": lambda: _zip(
            {"predictions.npy": [_npy_header((2**20, 2**12, 2), "<f8")], "format.npy": [b""]}
        ),
        "zeros.npz": lambda: _zip(
            {
                "predictions.npy": [
                    _npy_header((1, GIANT // 16, 2), "<f8"),
                    *[bytes(2**24)] * (GIANT // 2**24),
                ]
            }
        ),
        "wide.csv": lambda: b",".join(b"c%d" % i for i in range(300_000)) + b"\n1\n",
        "cell.csv": lambda: b'a,b\n1,"' + b"x" * 50_000_000,
        "rows.parquet": _long_parquet,
    }
    names = list(made)
    for at in range(seed % 2, len(names), 2):

        def read(name=names[at]):
            path = folder / name
            path.write_bytes(made[name]())
            kind = path.suffixes[0] if path.suffix == ".gz" else path.suffix
            open_it = {".bif": BayesNet.from_bif, ".npz": Rounds.load}.get(kind, tasks.read)
            try:
                open_it(path)
            finally:
                path.unlink()

        yield Case(names[at], read, must_fail=names[at] != "cell.csv")


def _long_parquet():
    """A table of equal values, which Parquet keeps in a few bytes."""
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    group = pyarrow.table({"a": pyarrow.array(np.zeros(2**24, np.int64))})
    with pyarrow.parquet.ParquetWriter(file, group.schema) as writer:
        for _ in range(2**5):
            writer.write_table(group)
    return file.getvalue()
