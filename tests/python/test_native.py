"""What ctypes is told of the library, against the headers and against a C program."""

import ctypes
import os
import re
import subprocess
import sys

import pytest

import cocabo
from cocabo import _native
from conftest import ROOT, measures

HEADERS = [ROOT / "include/cocabo.h", ROOT / "include/cocabo_store.h"]


def header_text():
    text = "\n".join(path.read_text() for path in HEADERS)
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def declared():
    """name: (result, arguments) of every public function, as C writes them."""
    found = {}
    for match in re.finditer(r"COCABO_API\s+([^;]*?)\b(cocabo_\w+)\(([^;]*?)\)[^;)]*;", header_text()):
        result, name, arguments = match.groups()
        listed = [] if arguments.strip() == "void" else arguments.split(",")
        found[name] = " ".join(result.split()), [" ".join(a.split()) for a in listed]
    return found


def c_shape(text):
    """How wide a C type is, and whether it is a pointer, a double or an integer."""
    text = re.sub(r"\bconst\b", "", text).strip()
    if "*" in text or "[" in text or "_fn" in text:
        return "pointer"
    kinds = {"double": "double", "void": "void", "size_t": "u8", "int64_t": "i8", "uint64_t": "u8",
             "uint32_t": "u4", "unsigned": "u4", "int": "i4"}
    word = text.split()[0]
    return kinds.get(word, "i4")  # the rest are enums


def our_shape(kind):
    if kind is None:
        return "void"
    if kind is ctypes.c_double:
        return "double"
    simple = {ctypes.c_int: "i4", ctypes.c_uint: "u4", ctypes.c_uint32: "u4",
              ctypes.c_int64: "i8", ctypes.c_uint64: "u8", ctypes.c_size_t: "u8"}
    # On this platform c_size_t is c_uint64 and c_uint is c_uint32.
    return simple.get(kind, "pointer")


def test_every_signature_is_the_headers():
    headers = declared()
    for name, (result, arguments) in _native.SIGNATURES.items():
        assert name in headers, name
        said, wanted = headers[name]
        assert our_shape(result) == c_shape(said or "int"), name
        assert [our_shape(a) for a in arguments] == [c_shape(w) for w in wanted], name


def test_structs_have_the_sizes_of_c(tmp_path):
    names = {"cocabo_error": "ErrorBuffer", "cocabo_value": "Value", "cocabo_metric": "Metric",
             "cocabo_attr": "Attr", "cocabo_step": "Step", "cocabo_record": "Record",
             "cocabo_known": "Known", "cocabo_report": "Report", "cocabo_run": "Run"}
    fields = {c: [f for f, _ in getattr(_native, ours)._fields_ if f not in ("held", "reserved")]
              for c, ours in names.items()}
    lines = [f'printf("%zu", sizeof({c}));' + "".join(
        f'printf(" %zu", offsetof({c}, {f}));' for f in fields[c]) + 'puts("");' for c in names]
    source = tmp_path / "sizes.c"
    source.write_text('#include <stdio.h>\n#include "cocabo_store.h"\nint main(void) {' +
                      "\n".join(lines) + "}\n")
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "sizes"], check=True)
    told = subprocess.run([tmp_path / "sizes"], check=True, capture_output=True, text=True)
    for (c, ours), line in zip(names.items(), told.stdout.splitlines()):
        struct = getattr(_native, ours)
        mine = [ctypes.sizeof(struct), *(getattr(struct, f).offset for f in fields[c])]
        assert mine == [int(n) for n in line.split()], c


def test_an_owner_has_room_for_its_name():
    sizes = re.findall(r"COCABO_OWNER_SIZE = (\d+)", header_text())
    assert sizes == [str(_native._OWNER_SIZE)]
    parts = _native.owner_name().decode().split(":")
    assert len(parts) == 6 and parts[1] == str(os.getpid()) and all(parts)


def test_the_version_is_the_headers():
    numbers = re.findall(r"#define COCABO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header_text())
    assert cocabo.__version__ == ".".join(numbers)


def test_every_status_is_an_exception():
    for name, number in re.findall(r"(COCABO_E_\w+) = (\d+)", header_text()):
        raised = _native.failure(int(number), "so it is")
        assert str(raised) == "so it is"
        if isinstance(raised, cocabo.Error):
            assert raised.status == int(number) and type(raised).status in (int(number), 10)
        else:
            assert name in ("COCABO_E_NO_MEMORY", "COCABO_E_INTERRUPTED")
    assert isinstance(_native.failure(10, ""), ValueError)
    assert isinstance(_native.failure(21, ""), KeyError)
    assert isinstance(_native.failure(30, ""), MemoryError)
    assert isinstance(_native.failure(60, ""), KeyboardInterrupt)


def test_a_library_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import cocabo"], capture_output=True, text=True,
                          env={**os.environ, "COCABO_LIBRARY": str(tmp_path / "gone.so")})
    assert done.returncode == 1
    assert "gone.so" in done.stderr and "COCABO_LIBRARY" in done.stderr


def test_a_library_of_another_kind_is_refused(tmp_path):
    (tmp_path / "x.c").write_text("int cocabo_version(void) { return 0x010203; }\n")
    library = tmp_path / "x.so"
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "x.c", "-o", library], check=True)
    done = subprocess.run([sys.executable, "-c", "import cocabo"], capture_output=True, text=True,
                          env={**os.environ, "COCABO_LIBRARY": str(library)})
    assert "it is of another version" in done.stderr.splitlines()[-1]


def test_import_brings_nothing_but_the_standard_library():
    code = ("import sys; import cocabo; names = {m.split('.')[0] for m in sys.modules};"
            "print(sorted(n for n in names if n != 'cocabo' and n not in sys.stdlib_module_names"
            " and not n.startswith('__')))")
    if not hasattr(sys, "stdlib_module_names"):
        pytest.skip("this Python does not list its standard library")
    done = subprocess.run([sys.executable, "-S", "-c", code], check=True, capture_output=True,
                          text=True)
    assert done.stdout.strip() == "[]"


@measures
def test_import_takes_milliseconds():
    # In processor time, because other tests run beside; and as a multiple of what Python
    # needs to start, some 12 ms, because machines differ: five times that. NumPy is ten.
    code = "import time; t = time.process_time(); import cocabo; print(time.process_time() / t - 1)"
    times = sorted(
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True).stdout)
        for _ in range(7))
    assert times[0] < 8, times

