"""The only module that imports numba; it sets the compilation flags of all kernels."""

import atexit
import hashlib
import multiprocessing
import os
import pickle
import secrets
import shutil
import stat
import tempfile
import warnings
from contextlib import suppress
from copy import copy
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event, sigutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_COMPILED, _CALLED, _CALLBACKS = [], [], []
# Kernels and callbacks that have been found to be compiled.
_KNOWN = set()

# Private parts of numba. Where they are missing or changed, kernels are plain `njit`, which
# takes longer to compile and finds the same.
try:
    from numba.core.ccallback import CFunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.dispatcher import Dispatcher
    from numba.core.options import DefaultOptions
except ImportError:
    JITCodeLibrary = Compiler = object
    _PRIVATE = None
else:
    _PRIVATE = {
        CFunc: ("enable_caching", "compile"),
        JITCodeLibrary: ("_optimize_final_module", "_finalize_final_module"),
        Compiler: ("define_pipelines",),
        Dispatcher: ("get_call_template", "get_overload"),
        DefaultOptions: ("_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"),
    }
IS_ACCELERATED = _PRIVATE is not None and all(
    hasattr(kind, name) for kind, names in _PRIVATE.items() for name in names
)

# Functions that allocate nothing need no reference counts. Counting costs two atomic operations per
# array and call, which is more than the work of a small kernel.
_COUNTS_REFERENCES, _ALLOCATES_NOTHING = {"_nrt": True}, {"_nrt": False}


# Types of the arguments that Python passes to kernels: arrays in C order by their number of
# dimensions. A table is explained in `Arrays`.
Ints, Ints2, Ints3 = (numba.types.Array(numba.int64, n, "C") for n in (1, 2, 3))
Floats, Floats2, Floats3 = (numba.types.Array(numba.float64, n, "C") for n in (1, 2, 3))
Flags, Flags2, Flags3 = (numba.types.Array(numba.boolean, n, "C") for n in (1, 2, 3))
Words, Words3 = (numba.types.Array(numba.uint64, n, "C") for n in (1, 3))
Signs, Bytes = (numba.types.Array(kind, 1, "C") for kind in (numba.int8, numba.uint8))
Table, Tables = Ints2, Ints3
_OF_PYTHON = {int: numba.int64, float: numba.float64, bool: numba.boolean}


def kernel(function):
    """Compile a function that allocates nothing, cache it on disk and run it without the GIL.

    Only kernels called from Python become machine code of their own; it includes all kernels that
    they call. Their parameters are annotated, so that they can be compiled without being called.

    Floating-point arithmetic is strict (no fastmath). Copying one slice to another counts as
    allocating. Numba compiles a kernel again for every literal argument, so variables that start
    as a literal integer are written as np.int64(0).
    """
    return _compiled(function, _ALLOCATES_NOTHING)


def allocating_kernel(function):
    """Like `kernel`, for functions that create arrays."""
    return _compiled(function, _COUNTS_REFERENCES)


def _compiled(function, flags):
    options = {"nogil": True}
    if IS_ACCELERATED:
        options |= {"no_cfunc_wrapper": True, **flags}
    compiled = _kept(lambda **keeping: numba.njit(**options, **keeping)(function))
    if IS_ACCELERATED and not numba.config.DISABLE_JIT:
        options["no_cpython_wrapper"] = True
        part = numba.njit(pipeline_class=_PartCompiler, **options)(function)
        # Numba uses these when it compiles a caller.
        compiled.get_call_template = part.get_call_template
        compiled.get_overload = part.get_overload
    _COMPILED.append(compiled)
    return compiled


class _PartLibrary(JITCodeLibrary):
    """The code of a kernel for its callers; it is optimized and compiled only inside them.

    By default numba optimizes and compiles every kernel separately and again in each caller.
    """

    # Without machine code there is nowhere to set the environment, and kernels do not use it.
    codegen = SimpleNamespace(set_env=lambda name, environment: None)

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        # Numba requires a pointer but never calls it.
        return 1


class _PartCompiler(Compiler):
    def define_pipelines(self):
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


@cache
def digest_of_sources():
    """A digest of the sources of all kernels, and of how they are compiled."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest() + (" accelerated" if IS_ACCELERATED else "")


def _kept(make):
    """What ``make(cache=True)`` returns, kept in a `_Store`; ``make()`` if numba has changed."""
    if numba.config.DISABLE_JIT:
        return make()
    try:
        compiled = make(cache=True)
    except (RuntimeError, OSError):  # numba found no folder that can be written
        _keep_for_now()
        try:
            compiled = make(cache=True)
        except (RuntimeError, OSError):
            return make()
    numbas = getattr(compiled, "_cache", None)
    names = ("_cache_file._dump", "_cache_file._index_name", "_index_key", "_impl.locator")
    try:
        for name in names:
            attrgetter(name)(numbas)
    except AttributeError:
        return make()
    folder = Path(numbas.cache_path)
    if not _is_trusted(folder):
        _keep_for_now()
        folder = Path(_FOR_NOW[0])
    numbas._cache_file = _Store(folder, numbas._cache_file)
    # Whether the folder can be written is seen when something is written.
    numbas._impl.locator.ensure_cache_path = lambda: None
    return compiled


# The folder of compiled kernels that lasts as long as this process, if no other one can be used.
_FOR_NOW = []


def _keep_for_now():
    """Let numba, also in processes that this one starts, keep kernels in a temporary folder."""
    if not _FOR_NOW:
        _FOR_NOW.append(tempfile.mkdtemp(prefix="bnmtl-kernels-"))
        atexit.register(shutil.rmtree, _FOR_NOW[0], ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = _FOR_NOW[0]


def _is_trusted(folder):
    """Whether nobody may write to a folder who could not change the sources of the kernels.

    What is kept is pickled, so to load it is to run it.
    """
    if not hasattr(os, "getuid"):
        return True
    found, sources = folder.stat(), Path(__file__).stat()
    if found.st_uid not in {os.getuid(), 0, sources.st_uid} or found.st_mode & stat.S_IWOTH:
        return False
    # A group of its own for each user is common, and so are files that it may write.
    is_shared = found.st_mode & stat.S_IWGRP and found.st_gid not in {os.getgid(), sources.st_gid}
    return not is_shared


class _Store:
    """Compiled code of a kernel or callback on disk, a file for each of its signatures.

    A file begins with a digest, and one that is damaged is as if it were not there. The name has a
    digest of the sources of all kernels: compiled kernels contain code and constants of others, but
    numba only checks the file of the kernel itself, so an update would mix old and new code.

    Parameters
    ----------
    folder : pathlib.Path
        Where to keep it. What `bnmtl compile` has kept beside the sources is found, too, where an
        installation cannot be written.
    numbas : numba's cache file
        Its serialization and its name are used.
    """

    def __init__(self, folder, numbas):
        beside = Path(__file__).parent / "__pycache__"
        is_found = beside.is_dir() and not os.access(beside, os.W_OK) and _is_trusted(beside)
        self._folders = [folder, *([beside] if is_found else [])]
        self._dump = numbas._dump
        self._name = Path(numbas._index_name).stem

    def _path(self, folder, key):
        version = hashlib.blake2b(
            f"{numba.__version__} {digest_of_sources()}".encode(), digest_size=8
        ).hexdigest()
        key = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        return folder / f"{self._name}.{version}.{key}.kernel"

    def load(self, key):
        """What was kept under a key, or None."""
        for folder in self._folders:
            try:
                content = self._path(folder, key).read_bytes()
            except OSError:
                continue
            if _digest(content[_SIZE:]) == content[:_SIZE]:
                try:
                    return pickle.loads(content[_SIZE:])
                except Exception:  # of a part of numba that is not there
                    continue
        return None

    def has(self, key):
        """Whether something is kept under a key; None is any key."""
        if key is not None:
            return any(self._path(folder, key).is_file() for folder in self._folders)
        prefix = self._path(Path(), key).name.rsplit(".", 2)[0]
        return any(next(folder.glob(f"{prefix}.*.kernel"), None) for folder in self._folders)

    def save(self, key, data):
        """Keep data under a key, and remove what was kept of other sources."""
        path, content = self._path(self._folders[0], key), self._dump(data)
        partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
        if _FOR_NOW:
            _warn_once("no folder for them can be written, or others may write to it, too")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("xb") as file:
                file.write(_digest(content) + content)
            os.replace(partial, path)
            version = path.name.rsplit(".", 3)[1]
            for old in path.parent.glob(f"{self._name}.*.kernel"):
                if old.name.rsplit(".", 3)[1] != version:
                    old.unlink(missing_ok=True)
        except OSError as error:
            _warn_once(f"{error.strerror} in `{path.parent}`")
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def flush(self):
        """Nothing is kept in memory."""


_SIZE = 16  # bytes of a digest


def _digest(content):
    return hashlib.blake2b(content, digest_size=_SIZE).digest()


_WARNED = []


def _warn_once(reason):
    """Warn that kernels are compiled at each start; only in the first process."""
    if _WARNED or multiprocessing.parent_process() is not None:
        return
    _WARNED.append(reason)
    message = (
        f"Compiled inner loops cannot be kept ({reason}), so each start compiles them again; set "
        "NUMBA_CACHE_DIR to a folder that only you can write."
    )
    warnings.warn(message, UserWarning, stacklevel=2)


def _store_of(compiled):
    """Where what numba has compiled is kept on disk, or None."""
    kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    return kept if isinstance(kept, _Store) else None


def signature_of(kernel):
    """The types of the arguments that Python passes to an annotated kernel."""
    return tuple(_OF_PYTHON.get(kind, kind) for kind in kernel.py_func.__annotations__.values())


def name_of(function):
    """The module and the name of a function."""
    return f"{function.__module__}:{function.__qualname__}"


def function_of(kernel):
    """The function of a kernel or callback."""
    return kernel._function if isinstance(kernel, Callback) else kernel.py_func


def compilable():
    """The kernels and callbacks of all imported modules that Python calls, by name."""
    if numba.config.DISABLE_JIT:
        return {}
    annotated = [kernel for kernel in _COMPILED if kernel.py_func.__annotations__]
    return {name_of(function_of(kernel)): kernel for kernel in [*annotated, *_CALLBACKS]}


def uncompiled(kernels):
    """The kernels and callbacks that neither this process nor its cache on disk has compiled."""
    if numba.config.DISABLE_JIT:
        return []
    _KNOWN.update(kernel for kernel in kernels if kernel not in _KNOWN and _is_compiled(kernel))
    return [kernel for kernel in dict.fromkeys(kernels) if kernel not in _KNOWN]


def _is_compiled(kernel):
    is_callback = isinstance(kernel, Callback)
    if "address" in vars(kernel) if is_callback else kernel.signatures:
        return True
    if not is_kept(kernel):
        return False
    if is_callback:
        compiler = kernel._compiler
        key = compiler._sig, compiler._targetdescr.target_context.codegen()
    else:
        compiler, key = kernel, (signature_of(kernel), kernel.targetctx.codegen())
    return _store_of(compiler).has(compiler._cache._index_key(*key) if key[0] else None)


def is_kept(kernel):
    """Whether a kernel or callback is kept on disk when it is compiled."""
    if isinstance(kernel, Callback):
        return IS_ACCELERATED and _store_of(kernel._compiler) is not None
    return _store_of(kernel) is not None


def compile_now(kernel):
    """Compile a kernel or callback of `compilable`, or load it from disk, without calling it."""
    if isinstance(kernel, Callback):
        return kernel.address
    return kernel.compile(signature_of(kernel))


def is_first_run():
    """Whether nothing has been compiled on this machine yet, so that the first call is slow."""
    # Reads the cache files only if this process has not called any kernel yet.
    if numba.config.DISABLE_JIT or any(kernel.signatures for kernel in _COMPILED):
        return False
    stores = map(_store_of, _COMPILED)
    return not any(store.has(None) for store in stores if store is not None)


class _Compilations(event.Listener):
    """Passes every function that numba has compiled to a callable."""

    def __init__(self, listener):
        self._listener = listener

    def on_start(self, compilation):
        pass

    def on_end(self, compilation):
        # A failed compilation raises anyway; numba's `is_failed` returns the opposite.
        self._listener(compilation.data["dispatcher"].py_func)


def watched_compilation(listener):
    """A context in which ``listener(function)`` is called after each compilation, in its thread.

    Numba holds the lock of its compiler during the call, so ``listener`` must not wait for another.
    """
    return event.install_listener("numba:compile", _Compilations(listener))


def kernels_within(called):
    """The functions of kernels, and of all kernels that these and callbacks call in turn."""
    found, waiting = set(), list(called)
    while waiting:
        value = waiting.pop()
        is_callback = isinstance(value, Callback)
        is_kernel = is_callback or hasattr(value, "py_func")
        function = function_of(value) if is_kernel else None
        if function is None or function in found:
            continue
        # Numba reports no compilation of the function of a callback.
        if not is_callback:
            found.add(function)
        waiting += [function.__globals__.get(name) for name in function.__code__.co_names]
    return found


class Arrays:
    """Named arrays that are passed to kernels as a single argument, their ``table``.

    Numba passes an array as seven or more values, and compiling functions that pass on hundreds of
    values takes seconds. The table contains the address and the shape of each array. A kernel
    gets an array with a field of the table's `layout`, such as ``METHOD(engine)``. In plain Python
    the table maps fields to arrays, and a field that the table lacks raises TypeError.

    Parameters
    ----------
    fields : tuple
        As returned by `layout`.
    **arrays
        One C-contiguous array per field.
    """

    def __init__(self, fields, **arrays):
        self.fields = fields
        entries = {field: self._taken(field, arrays[field.name]) for field in fields}
        if numba.config.DISABLE_JIT:
            self.table = _TableInPython(entries)
        else:  # in half the time of assigning each row
            self.table = np.array([*entries.values()], np.int64)

    def _taken(self, field, array):
        """The entry of an array that becomes an attribute."""
        is_of_field = array.dtype == field.dtype and array.ndim == field.n_dimensions
        if not is_of_field or not array.flags.c_contiguous:
            raise TypeError(
                f"{field.name}: {array.dtype} of {array.ndim} dimensions, not {field.dtype} of "
                f"{field.n_dimensions}"
            )
        setattr(self, field.name, array)
        return array if numba.config.DISABLE_JIT else _entry(array)

    def replaced(self, **arrays):
        """A copy with some of the arrays replaced."""
        other = object.__new__(Arrays)
        vars(other).update(vars(self), table=copy(self.table))
        for field in self.fields:
            if field.name in arrays:
                place = field if numba.config.DISABLE_JIT else field.place
                other.table[place] = other._taken(field, arrays[field.name])
        return other

    def __reduce__(self):
        # Addresses are invalid in other processes, whose arrays may also be read-only.
        raise TypeError("Arrays for kernels cannot be copied or sent; make new ones.")


def stacked(many):
    """The tables of several `Arrays` with the same fields, as one array that kernels index."""
    tables = [arrays.table for arrays in many]
    return tables if numba.config.DISABLE_JIT else np.stack(tables)


def layout(*fields):
    """Assign each field its row in a table; fields are made by `ints` and similar functions.

    A table that begins with all fields of another layout can be passed to kernels of that layout.
    """
    if len({field.name for field in fields}) < len(fields):
        raise ValueError("Two fields of a table have the same name.")
    for place, field in enumerate(fields):
        if field.place not in (None, place):
            raise ValueError(f"{field.name} already has place {field.place}, not {place}.")
        field.place = place
    return fields


def _fields_of(dtype):
    """A function (name, n_dimensions=1) that returns a field, which kernels call with a table."""

    def make_field(name, n_dimensions=1):
        field = _in_python() if numba.config.DISABLE_JIT else _in_machine(dtype, n_dimensions)
        field.name, field.dtype, field.n_dimensions = name, np.dtype(dtype), n_dimensions
        field.place = None
        return field

    return make_field


ints, floats, flags = map(_fields_of, (np.int64, np.float64, np.bool_))
uint8s, uint32s, words = map(_fields_of, (np.uint8, np.uint32, np.uint64))


class _TableInPython(dict):
    """Maps fields to arrays."""

    def __missing__(self, field):
        names = ", ".join(known.name for known in self)
        raise TypeError(
            f"{field.name}, {field.place} of its layout, is not a field of this table: {names}"
        )


def _in_python():
    def field(table):
        return table[field]

    return field


# Width of a row of a table: an address and up to three dimensions.
_WIDTH = 4
_PADDING = (0,) * (_WIDTH - 1)


def _entry(array):
    address, _ = array.__array_interface__["data"]
    return address, *array.shape, *_PADDING[array.ndim :]


def _in_machine(dtype, n_dimensions):
    dtype = numba.from_dtype(np.dtype(dtype))
    array_type = numba.types.Array(dtype, n_dimensions, "C")

    @intrinsic
    def field(_, table):
        def generate(context, builder, signature, arguments):
            entries = make_array(signature.args[0])(context, builder, arguments[0]).data
            word = context.get_value_type(numba.types.int64)

            def read(column):
                at = word(_WIDTH * field.place + column)
                return builder.load(builder.gep(entries, [at]))

            item = context.get_data_type(dtype)
            size = word(context.get_abi_sizeof(item))
            shape = [read(1 + dimension) for dimension in range(n_dimensions)]
            strides, step = [], size
            for extent in reversed(shape):
                strides.insert(0, step)
                step = builder.mul(step, extent)
            array = make_array(array_type)(context, builder)
            populate_array(
                array,
                data=builder.inttoptr(read(0), item.as_pointer()),
                shape=cgutils.pack_array(builder, shape),
                strides=cgutils.pack_array(builder, strides),
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return array_type(table), generate

    return field


class Callback:
    """A kernel (table, table, int, int, int) that other kernels call through its address.

    Numba compiles a function again in every kernel that calls it. Large functions with many callers
    are compiled only once and called through `call` with the value of `address`.
    """

    def __init__(self, function):
        self._function = function
        _CALLED.append(function)
        _CALLBACKS.append(self)

    @cached_property
    def address(self):
        """Address of the function, compiled at first use; in plain Python, an index."""
        if numba.config.DISABLE_JIT:
            return _CALLED.index(self._function)
        if IS_ACCELERATED:
            self._compiler.compile()
        return self._compiler.address

    @cached_property
    def _compiler(self):
        table = numba.types.CPointer(numba.types.int64)
        word = numba.types.int64
        signature = numba.types.void(table, table, word, word, word)
        if not IS_ACCELERATED:
            return numba.cfunc(signature)(self._function)

        def make(cache=False):
            form = sigutils.normalize_signature(signature)
            compiled = CFunc(self._function, form, locals={}, options=_ALLOCATES_NOTHING)
            if cache:
                compiled.enable_caching()
            return compiled

        return _kept(make)


@intrinsic
def _table_in_machine(_, pointer):
    """The length of the table is unknown and not used.

    The public `numba.carray` does not compile without reference counts.
    """
    array_type = numba.types.Array(numba.types.int64, 2, "C")

    def generate(context, builder, signature, arguments):
        word = context.get_value_type(numba.types.int64)
        table = make_array(array_type)(context, builder)
        populate_array(
            table,
            data=arguments[0],
            shape=cgutils.pack_array(builder, [word(1), word(_WIDTH)]),
            strides=cgutils.pack_array(builder, [word(8 * _WIDTH), word(8)]),
            itemsize=word(8),
            meminfo=None,
        )
        return table._getvalue()

    return array_type(pointer), generate


@intrinsic
def _call_by_address(_, address, first, second, a, b, c):
    def generate(context, builder, signature, arguments):
        tables = [
            make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[1:3], arguments[1:3], strict=True)
        ]
        values = [*tables, *arguments[3:]]
        type_ = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        builder.call(builder.inttoptr(arguments[0], type_.as_pointer()), values)
        return context.get_dummy_value()

    word = numba.types.int64
    return numba.types.void(word, first, second, word, word, word), generate


@intrinsic
def _count_in_machine(_, word):
    """A single instruction on most machines; LLVM vectorizes it."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), generate


# Number of set bits of a uint64.
popcount = (lambda word: int(word).bit_count()) if numba.config.DISABLE_JIT else _count_in_machine

# The table passed to the function of a `Callback`.
table_at = (lambda table: table) if numba.config.DISABLE_JIT else _table_in_machine


def _call_in_python(address, first, second, a, b, c):
    _CALLED[address](first, second, a, b, c)


# Call the function of a `Callback` with its address, two tables and three integers.
call = _call_in_python if numba.config.DISABLE_JIT else _call_by_address
