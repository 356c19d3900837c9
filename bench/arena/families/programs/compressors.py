"""Compressors, by the bytes that they make of scikit-learn's data."""

from __future__ import annotations

from .. import Point, Problem, choice, ordinal, real, switch, whole  # noqa: F401


def digits_text(rows: int) -> bytes:
    """Pictures of 8 x 8 pixels, as lines of numbers."""
    from sklearn.datasets import load_digits
    return "\n".join(",".join(map(str, row)) for row in
                     load_digits().data[:rows].astype(int).tolist()).encode()


def xz_digits() -> Problem:
    """LZMA wants lc + lp <= 4, and nice_len at least what the match finder looks at."""
    import lzma
    data = digits_text(400)
    finders = {"hc3": lzma.MF_HC3, "hc4": lzma.MF_HC4, "bt2": lzma.MF_BT2,
               "bt3": lzma.MF_BT3, "bt4": lzma.MF_BT4}

    def size(point: Point) -> float:
        filters = [{"id": lzma.FILTER_LZMA2, "dict_size": point["dict_kb"] * 1024,
                    "lc": point["lc"], "lp": point["lp"], "pb": point["pb"],
                    "mode": lzma.MODE_FAST if point["mode"] == "fast" else lzma.MODE_NORMAL,
                    "nice_len": point["nice_len"], "mf": finders[point["mf"]],
                    "depth": point["depth"]}]
        if point["delta"]:
            filters.insert(0, {"id": lzma.FILTER_DELTA, "dist": point["dist"]})
        return len(lzma.compress(data, lzma.FORMAT_RAW, filters=filters))

    return Problem({
        "mode": choice("fast", "normal"), "mf": choice(*finders),
        "dict_kb": whole(4, 4096, log=True), "lc": whole(0, 4), "lp": whole(0, 4),
        "pb": whole(0, 4), "nice_len": whole(2, 273, log=True), "depth": whole(0, 200),
        "delta": switch(), "dist": whole(1, 256, log=True, delta=True)}, size)


MAKERS = {"xz-digits": xz_digits}
