"""Whether the Python package is well installed; run by the Python that has it, isolated:

    PYTHON -I tests/install/installed.py VERSION [STORAGE]

It imports cocabo, in the time and with nothing but what was promised, and takes a study in a
SQLite file through ask, tell, closing, opening and replaying. With a STORAGE every study in it
is replayed too; no proposal may differ. Prints one line, or exits with one that says what is
wrong.
"""

import os
import pathlib
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile

LIMIT = 60.0  # milliseconds that `import cocabo` may take
IMPORT = """
import sys, time
before = set(sys.modules)
wall, cpu = time.perf_counter(), time.process_time()
import cocabo
print((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
for name in set(sys.modules) - before:
    print(name, getattr(sys.modules[name], "__file__", None) or "")
"""


def require(truth, sentence):
    if not truth:
        sys.exit(f"python {platform.python_version()}: {sentence}")


def import_once():
    """(time, processor time) in milliseconds; (name, file) of each module that came with it."""
    said = subprocess.run([sys.executable, "-I", "-c", IMPORT], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [float(ms) for ms in said[0].split()], [line.partition(" ")[::2] for line in said[1:]]


def check_modules():
    _, modules = import_once()
    own = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    strange = [name for name, file in modules
               if name.partition(".")[0] != "cocabo" and file.startswith(own)]
    require(not strange, f"import cocabo brought in {', '.join(strange)}")


def check_time():
    """The median, as text. Where more runs than the processors can do, theirs counts."""
    wall, cpu = (statistics.median(times) for times in
                 zip(*(import_once()[0] for _ in range(9))))
    if wall > LIMIT and os.getloadavg()[0] > os.cpu_count():
        require(cpu <= LIMIT, f"import cocabo takes {cpu:.0f} ms of a processor, "
                f"want at most {LIMIT:.0f}")
        return f"{cpu:.0f} ms of a busy processor"
    require(wall <= LIMIT, f"import cocabo takes {wall:.0f} ms, want at most {LIMIT:.0f}")
    return f"{wall:.0f} ms"


def check_package(cocabo, version):
    folder = pathlib.Path(cocabo.__file__).parent
    require(pathlib.Path(sys.prefix) in folder.parents, f"cocabo came from {folder}")
    require(cocabo.__version__ == version, f"cocabo is {cocabo.__version__}, want {version}")
    libraries = [path.name for path in folder.rglob("*.so*")]
    require(libraries == ["libcocabo.so"], f"its libraries are {libraries}")
    require((folder / "py.typed").is_file(), "there is no py.typed")


def check_study(cocabo, folder):
    """Every kind of parameter, in a file; the replay after opening it again."""
    storage = os.path.join(folder, "study.db")
    space = {"x": cocabo.Float(-2, 2), "n": cocabo.Int(1, 9), "kind": cocabo.Choice(["a", "b"]),
             "depth": cocabo.Ordinal([1, 4, 16], when="kind == 'b'")}
    with cocabo.create_study(space, storage=storage, name="well", seed=7) as study:
        for _ in range(12):
            trial = study.ask()
            study.tell(trial, (trial["x"] - 1) ** 2 + trial["n"] + (trial["kind"] == "b"))
        best = study.best_value
    with cocabo.load_study(storage=storage) as study:
        require(study.count("complete") == 12, "the file has lost trials")
        require(study.best_value == best, "the best of the file is another")
        report = study.verify()
        require(report.ok and report.replayed == 12, f"the replay says {report}")


def check_storage(cocabo, storage):
    """The number of proposals that were made again."""
    replayed = 0
    names = cocabo.study_names(storage)
    require(names, f"{storage} has no study")
    for name in names:
        with cocabo.load_study(name, storage=storage) as study:
            report = study.verify()
        require(report.differing == 0, f"{name}: trial {report.first_differing} comes out differently")
        require(report.foreign == 0, f"{name}: {report.foreign} proposals of other samplers")
        replayed += report.replayed
    return replayed


def main():
    version, storages = sys.argv[1], sys.argv[2:]
    import cocabo
    check_package(cocabo, version)
    check_modules()
    took = check_time()
    with tempfile.TemporaryDirectory() as folder:
        check_study(cocabo, folder)
    line = (f"{platform.python_implementation()} {platform.python_version()}: "
            f"imported in {took}, a study in a file asked, told and replayed")
    for storage in storages:
        line += f", {check_storage(cocabo, storage)} proposals of {os.path.basename(storage)} made again, 0 differing"
    print(line)


if __name__ == "__main__":
    main()
