"""Solvers by what they count while they work: conflicts, iterations, steps."""

from __future__ import annotations

import os
import random
import tempfile

from .. import Point, Problem, choice, ordinal, real, switch, whole


# ---- SAT -----------------------------------------------------------------------------

def formula(n: int, clauses: int, seed: int) -> list[list[int]]:
    """Random 3-SAT over n variables."""
    source = random.Random(seed)
    return [[v * source.choice((-1, 1)) for v in source.sample(range(1, n + 1), 3)]
            for _ in range(clauses)]


def cadical() -> Problem:
    """Conflicts of CaDiCaL on two formulas."""
    from pysat.solvers import Cadical195
    formulas = [formula(120, 516, seed) for seed in range(2)]
    booleans = ("chrono", "elim", "lucky", "minimize", "probe", "subsume", "ternary", "vivify",
                "walk")

    def conflicts(point: Point) -> float:
        options = {name: int(value) for name, value in point.items()}
        total = 0
        for clauses in formulas:
            with Cadical195() as solver:
                solver.configure(options)
                solver.append_formula(clauses)
                solver.solve()
                total += solver.accum_stats()["conflicts"]
        return total

    return Problem({
        "restart": switch(), "restartint": whole(1, 500, log=True, restart=True),
        "restartmargin": whole(0, 100, restart=True),
        "stabilize": switch(), "stabilizefactor": whole(101, 1000, log=True, stabilize=True),
        "stabilizeinit": whole(100, 20000, log=True, stabilize=True),
        "phase": switch(), "forcephase": switch(), "rephase": switch(),
        "rephaseint": whole(10, 5000, log=True, rephase=True),
        "reduce": switch(), "reduceint": whole(10, 3000, log=True, reduce=True),
        "reducetarget": whole(10, 100, reduce=True), "scorefactor": whole(500, 1000),
        **{name: switch() for name in booleans}}, conflicts)


# ---- mixed-integer programs ----------------------------------------------------------

def knapsacks(items: int, rows: int):
    """Several knapsacks at once: costs to minimise, weights, room."""
    source = random.Random(7)
    weights = [[source.randint(5, 60) for _ in range(items)] for _ in range(rows)]
    costs = [-(sum(row[j] for row in weights) / rows + source.randint(0, 20))
             for j in range(items)]
    return costs, weights, [sum(row) // 3 for row in weights]


def highs() -> Problem:
    """Simplex iterations of HiGHS, up to an optimum proven within a limit of nodes."""
    import highspy
    import numpy as np
    costs, weights, room = knapsacks(24, 4)
    n, rows = len(costs), len(room)

    def load(solver) -> None:
        problem = highspy.HighsLp()
        problem.num_col_, problem.num_row_ = n, rows
        problem.col_cost_ = np.array(costs, dtype=float)
        problem.col_lower_, problem.col_upper_ = np.zeros(n), np.ones(n)
        problem.row_lower_ = np.full(rows, -highspy.kHighsInf)
        problem.row_upper_ = np.array(room, dtype=float)
        problem.integrality_ = [highspy.HighsVarType.kInteger] * n
        problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        problem.a_matrix_.start_ = np.arange(0, n * rows + 1, n)
        problem.a_matrix_.index_ = np.tile(np.arange(n), rows)
        problem.a_matrix_.value_ = np.array(weights, dtype=float).ravel()
        solver.passModel(problem)

    def iterations(point: Point) -> float:
        solver = highspy.Highs()
        solver.silent()
        for name, value in {**point, "threads": 1, "mip_max_nodes": 400}.items():
            if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS has no {name} = {value}")
        load(solver)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise ValueError("there was no proof within the limit of nodes")
        return solver.getInfo().simplex_iteration_count

    return Problem({
        "presolve": choice("off", "on"), "mip_detect_symmetry": switch(),
        "simplex_strategy": choice(1, 4), "simplex_scale_strategy": choice(0, 1, 2, 3, 4),
        "simplex_dual_edge_weight_strategy": choice(-1, 0, 1, 2),
        "mip_heuristic_effort": real(0, 0.5), "mip_allow_restart": switch(),
        "mip_heuristic_run_rins": switch(), "mip_heuristic_run_rens": switch(),
        "mip_heuristic_run_root_reduced_cost": switch(),
        "mip_lp_age_limit": whole(1, 100, log=True),
        "mip_pool_age_limit": whole(1, 200, log=True),
        "mip_pool_soft_limit": whole(10, 10000, log=True),
        "mip_pscost_minreliable": whole(0, 50), "mip_rel_gap": real(1e-6, 1e-3, log=True)},
        iterations)


# ---- SQLite --------------------------------------------------------------------------

QUERIES = [
    "SELECT count(*), sum(price) FROM orders WHERE customer = ?",
    "SELECT id, price FROM orders WHERE customer = ? AND day BETWEEN 100 AND 130",
    "SELECT max(price) FROM orders WHERE day = ?",
    "SELECT customer, sum(price) s FROM orders WHERE day > 350 AND shop = ? % 5 GROUP BY "
    "customer ORDER BY s DESC LIMIT 5",
    "SELECT o.note FROM orders o JOIN shops s ON o.shop = s.shop WHERE s.city = ? % 3 AND "
    "o.customer < 4",
]


def sqlite() -> Problem:
    """What a table, its indices and the cache cost: KB read and thousands of SQLite's own
    steps of a fixed load of queries, and a tenth of the KB that the file takes. AUTOINCREMENT
    is not for tables WITHOUT ROWID."""
    source = random.Random(3)
    rows = [(source.randrange(150), source.randrange(365), source.randrange(5),
             source.randint(1, 9999) / 100, "x" * source.randint(5, 60)) for _ in range(2000)]

    def fill(path: str, point: Point) -> None:
        import apsw
        db = apsw.Connection(path)
        db.execute(f"PRAGMA page_size={point['page_size']}; PRAGMA journal_mode=OFF; "
                   f"PRAGMA synchronous=OFF")
        key = {"plain": "INTEGER PRIMARY KEY", "increment": "INTEGER PRIMARY KEY AUTOINCREMENT",
               "text": "TEXT PRIMARY KEY"}[point["key"]]
        db.execute(f"CREATE TABLE orders(id {key}, customer INT, day INT, shop INT, price REAL,"
                   f" note TEXT) {'WITHOUT ROWID' if point['clustered'] else ''}")
        db.execute("CREATE TABLE shops(shop INT, city INT); "
                   "INSERT INTO shops VALUES (0, 0), (1, 1), (2, 2), (3, 0), (4, 1)")
        order = {"none": rows, "customer": sorted(rows),
                 "day": sorted(rows, key=lambda row: row[1])}[point["sorted"]]
        with db:
            db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)",
                           ((i if point["key"] != "text" else f"{i:06}", *row)
                            for i, row in enumerate(order)))
            for name in ("customer", "day", "shop"):
                if point[f"index_{name}"]:
                    db.execute(f"CREATE INDEX by_{name} ON orders({name})")
            if point["pair"] != "none":
                cover = ", price" if point["covering"] else ""
                db.execute(f"CREATE INDEX by_pair ON orders({point['pair']}{cover})")
        if point["analyze"]:
            db.execute(f"PRAGMA analysis_limit={point['analysis_limit']}; ANALYZE")
        db.close()

    def load(path: str, point: Point) -> float:
        import apsw
        db = apsw.Connection(path)
        db.execute(f"PRAGMA cache_size={point['cache_pages']}; "
                   f"PRAGMA automatic_index={int(point['automatic_index'])}")
        steps = [0]

        def count() -> bool:
            steps[0] += 1
            return False
        db.set_progress_handler(count, 50)
        for k in range(3):
            for query in QUERIES:
                db.execute(query, (7 * k + 3,)).fetchall()
        read = db.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0] * point["page_size"]
        db.close()
        return read / 1024 + steps[0] * 50 / 1000 + os.path.getsize(path) / 10240

    def cost(point: Point) -> float:
        with tempfile.TemporaryDirectory(prefix="cocabo-arena-") as folder:
            path = os.path.join(folder, "orders.db")
            fill(path, point)
            return load(path, point)

    return Problem({
        "page_size": ordinal(512, 1024, 2048, 4096, 8192, 16384, 32768),
        "cache_pages": whole(2, 200, log=True), "clustered": switch(),
        "key": choice("plain", "increment", "text"),
        "sorted": choice("none", "customer", "day"),
        "index_customer": switch(), "index_day": switch(), "index_shop": switch(),
        "pair": choice("none", "customer, day", "day, customer"),
        "covering": switch(pair=("customer, day", "day, customer")),
        "analyze": switch(), "analysis_limit": whole(10, 1000, log=True, analyze=True),
        "automatic_index": switch()}, cost)


MAKERS = {"cadical": cadical, "highs": highs, "sqlite": sqlite}
