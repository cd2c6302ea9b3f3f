"""The energy of named regions of a Python program, of every device of this node.

    import parajoule

    with parajoule.region("solve"):
        ...

    @parajoule.region("step")
    def step(): ...

Under `parajoule measure -- python program.py` that is all: the regions stand in its table and
record. Without it the program meters itself:

    with parajoule.metering():
        with parajoule.region("solve") as solve:
            ...
    print(solve.result().measured, solve.result().modelled)

Regions may nest and overlap, in any threads; to begin and to end one takes microseconds. Work of a
GPU goes on after the call that began it: `parajoule.synchronise_with(torch.cuda.synchronize)` waits
for it at both ends of each region. Measured and modelled energies are never added to each other.

One file over libparajoule_meter.so, found beside this file, beside `parajoule`, by the environment
variable PARAJOULE_LIBRARY, or by the system's loader. Python 3.6 and later. Licence: Apache 2.0.
"""

import ctypes
import functools
import os
import shutil
from collections import namedtuple

__all__ = ["Error", "Region", "active", "metering", "region", "start", "stop",
           "synchronise_with", "version"]

_NAME = "libparajoule_meter.so.1"
_OK = 0


class Error(RuntimeError):
    """What may not be done, or cannot, in one line."""


class Energy(namedtuple("Energy", "device device_kind label covers joules resolution bias"
                                  " covered_seconds counts remarks")):
    """What one source says of a region.

    `joules` is None where there is no number: never 0 for what was not metered. `resolution` and
    `bias` are half widths of 95 % intervals, in joules; the first averages out, the second is
    common to all sensors of a type. `counts`: is in the total of its label.
    """
    __slots__ = ()


class Total(namedtuple("Total", "joules half_width")):
    """A sum of one label, with the half width of its 95 % interval."""
    __slots__ = ()

    def __str__(self):
        return "%.4g ± %.2g J" % self


class Result(namedtuple("Result", "seconds exact_seconds energies measured modelled")):
    """What a region took. `measured` and `modelled` are Totals, or None without any source."""
    __slots__ = ()


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("hertz", ctypes.c_double)]


class _Energy(ctypes.Structure):
    _fields_ = [("device", ctypes.c_char_p), ("device_kind", ctypes.c_char_p),
                ("covers", ctypes.c_char_p), ("remarks", ctypes.c_char_p),
                ("label", ctypes.c_int), ("counts", ctypes.c_int), ("joules", ctypes.c_double),
                ("resolution", ctypes.c_double), ("bias", ctypes.c_double),
                ("covered_seconds", ctypes.c_double)]


_Wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_LABELS = {1: "measured", 2: "modelled"}


def _places():
    if "PARAJOULE_LIBRARY" in os.environ:
        yield os.environ["PARAJOULE_LIBRARY"]
        return
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, _NAME)
    yield os.path.join(here, "parajoule.libs", _NAME)
    yield os.path.normpath(os.path.join(here, "..", "..", "..", "lib", _NAME))
    program = shutil.which("parajoule")
    if program:
        top = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        yield os.path.join(top, "lib", _NAME)
    yield _NAME


def _load():
    troubles = []
    for place in _places():
        if os.path.sep in place and not os.path.exists(place):
            troubles.append("no " + place)
            continue
        try:
            return _declared(ctypes.CDLL(place))
        except OSError as trouble:
            troubles.append(str(trouble))
    raise ImportError("libparajoule_meter is not found; set PARAJOULE_LIBRARY to its path ("
                      + "; ".join(troubles) + ")")


def _declared(library):
    region, pointer = ctypes.c_uint64, ctypes.c_void_p
    status, number, double = ctypes.c_int, ctypes.c_size_t, ctypes.c_double
    for name, result, arguments in (
            ("version", ctypes.c_char_p, []),
            ("error", ctypes.c_char_p, []),
            ("start", status, [ctypes.POINTER(_Options)]),
            ("stop", status, []),
            ("active", status, []),
            ("begin", region, [ctypes.c_char_p]),
            ("begin_exact", region, [ctypes.c_char_p]),
            ("end", status, [region]),
            ("forget", status, [region]),
            ("synchronise_with", status, [_Wait, pointer]),
            ("energy_of", status, [region, ctypes.POINTER(pointer)]),
            ("result_free", None, [pointer]),
            ("result_seconds", double, [pointer]),
            ("result_exact_seconds", double, [pointer]),
            ("result_count", number, [pointer]),
            ("result_energy", status, [pointer, number, ctypes.POINTER(_Energy)]),
            ("result_total", status, [pointer, ctypes.c_int, ctypes.POINTER(double),
                                      ctypes.POINTER(double)])):
        function = getattr(library, "parajoule_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
_wait = _Wait()  # what devices are waited for with: must live as long as the library knows it


def _error():
    return Error(_library.parajoule_error().decode("utf-8", "replace"))


def _checked(status):
    if status != _OK:
        raise _error()


def _bytes(name):
    raw = name if isinstance(name, bytes) else str(name).encode("utf-8", "surrogateescape")
    if b"\0" in raw:
        raise Error("the name of a region must have no zero byte: %r" % (name,))
    return raw


def _text(raw):
    return raw.decode("utf-8", "replace")


def version():
    """`parajoule 0.1.0`"""
    return _text(_library.parajoule_version())


def active():
    """"no", "here" (this process meters), or "wrapper" (`parajoule measure` does)."""
    return ("no", "here", "wrapper")[_library.parajoule_active()]


def start(hertz=0):
    """Opens all meters of this node and reads them in a thread: ten times a second, or `hertz`.

    One process a node should. Under `parajoule measure` it does nothing.
    """
    options = _Options(ctypes.sizeof(_Options), hertz)
    _checked(_library.parajoule_start(ctypes.byref(options)))


def stop():
    """No meter is read after that; regions that have ended can still be asked."""
    _checked(_library.parajoule_stop())


class metering:
    """start() and stop() around a `with`."""

    def __init__(self, hertz=0):
        self._hertz = hertz

    def __enter__(self):
        start(self._hertz)
        return self

    def __exit__(self, *_):
        stop()


def synchronise_with(wait):
    """Calls `wait()` before the clock is looked at, at both ends of each region; None: no more."""
    global _wait
    fresh = _Wait(lambda _: wait()) if wait else _Wait()
    _checked(_library.parajoule_synchronise_with(fresh, None))
    _wait = fresh


class Region:
    """A region: begun and ended by `with`, by a decorator for each call, or by begin() and end().

    `exact`: reads the energy counters at both ends, which may take milliseconds.
    """

    def __init__(self, name, exact=False):
        self._name = _bytes(name)
        if not self._name:
            raise Error("a region needs a name")
        self._begin = _library.parajoule_begin_exact if exact else _library.parajoule_begin
        self._exact = exact
        self._id = 0

    def begin(self):
        self._id = self._begin(self._name)
        # Without a meter 0 is no error.
        if not self._id and (len(self._name) > 1000 or active() != "no"):
            raise _error()
        return self

    def end(self):
        _checked(_library.parajoule_end(self._id))

    def __enter__(self):
        return self.begin()

    def __exit__(self, *_):
        self.end()

    def __call__(self, function):
        """As a decorator: each call is a region of its own."""
        @functools.wraps(function)
        def called(*arguments, **named):
            with Region(self._name, self._exact):
                return function(*arguments, **named)
        return called

    def forget(self):
        """Lets go of what is kept for it."""
        _checked(_library.parajoule_forget(self._id))

    def result(self):
        """What it took, once it has ended. Not under `parajoule measure`: its table has it."""
        result = ctypes.c_void_p()
        _checked(_library.parajoule_energy_of(self._id, ctypes.byref(result)))
        try:
            return Result(_library.parajoule_result_seconds(result),
                          _library.parajoule_result_exact_seconds(result),
                          _energies(result), _total(result, 1), _total(result, 2))
        finally:
            _library.parajoule_result_free(result)


region = Region


def _number(value):
    return None if value != value else value


def _energies(result):
    found = []
    for index in range(_library.parajoule_result_count(result)):
        raw = _Energy()
        _checked(_library.parajoule_result_energy(result, index, ctypes.byref(raw)))
        found.append(Energy(_text(raw.device), _text(raw.device_kind), _LABELS[raw.label],
                            _text(raw.covers), _number(raw.joules), raw.resolution, raw.bias,
                            raw.covered_seconds, bool(raw.counts), _text(raw.remarks)))
    return found


def _total(result, label):
    joules, half_width = ctypes.c_double(), ctypes.c_double()
    _checked(_library.parajoule_result_total(result, label, ctypes.byref(joules),
                                             ctypes.byref(half_width)))
    return None if _number(joules.value) is None else Total(joules.value, half_width.value)
