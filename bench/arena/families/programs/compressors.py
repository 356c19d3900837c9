"""Compressors, by the bytes that they make of scikit-learn's data."""

from __future__ import annotations

from typing import Any

from .. import Point, Problem, choice, ordinal, switch, whole


def digits_text(rows: int) -> bytes:
    """Pictures of 8 x 8 pixels, as lines of numbers."""
    from sklearn.datasets import load_digits
    return "\n".join(",".join(map(str, row)) for row in
                     load_digits().data[:rows].astype(int).tolist()).encode()


def cancer_text() -> bytes:
    """Measures of cells, 30 a line."""
    from sklearn.datasets import load_breast_cancer
    return "\n".join(",".join(f"{v:g}" for v in row) for row in
                     load_breast_cancer().data.tolist()).encode()


def diabetes_bytes() -> bytes:
    """The raw measures, 10 floats a patient."""
    from sklearn.datasets import load_diabetes
    return load_diabetes(scaled=False).data.astype("<f4").tobytes()


# ---- xz ------------------------------------------------------------------------------

def lzma_filters(point: Point) -> list[dict[str, Any]]:
    import lzma
    mode = {"fast": lzma.MODE_FAST, "normal": lzma.MODE_NORMAL}[point["mode"]]
    filters = [{"id": lzma.FILTER_LZMA2, "mode": mode, "dict_size": point["dict_kb"] * 1024,
                "lc": point["lc"], "lp": point["lp"], "pb": point["pb"],
                "nice_len": point["nice_len"], "depth": point["depth"],
                "mf": getattr(lzma, f"MF_{point['mf'].upper()}")}]
    if point["delta"]:
        filters.insert(0, {"id": lzma.FILTER_DELTA, "dist": point["dist"]})
    return filters


def xz_digits() -> Problem:
    """LZMA wants lc + lp <= 4, and nice_len at least what the match finder looks at."""
    import lzma
    data = digits_text(400)
    return Problem({
        "mode": choice("fast", "normal"), "mf": choice("hc3", "hc4", "bt2", "bt3", "bt4"),
        "dict_kb": whole(4, 4096, log=True), "lc": whole(0, 4), "lp": whole(0, 4),
        "pb": whole(0, 4), "nice_len": whole(2, 273, log=True), "depth": whole(0, 200),
        "delta": switch(), "dist": whole(1, 256, log=True, delta=True)},
        lambda point: len(lzma.compress(data, lzma.FORMAT_RAW, filters=lzma_filters(point))))


# ---- zstd ----------------------------------------------------------------------------

def zstd_cancer() -> Problem:
    import zstandard
    data = cancer_text()
    strategies = [f"STRATEGY_{s}" for s in ("FAST", "DFAST", "GREEDY", "LAZY", "LAZY2",
                                            "BTLAZY2", "BTOPT", "BTULTRA", "BTULTRA2")]

    def size(point: Point) -> float:
        words = {name: value for name, value in point.items() if name != "strategy"}
        parameters = zstandard.ZstdCompressionParameters(
            strategy=getattr(zstandard, point["strategy"]), **words)
        return len(zstandard.ZstdCompressor(compression_params=parameters).compress(data))

    return Problem({
        "strategy": ordinal(*strategies), "window_log": whole(10, 22),
        "chain_log": whole(6, 20), "hash_log": whole(6, 20), "search_log": whole(1, 12),
        "min_match": whole(3, 7), "target_length": whole(1, 999, log=True),
        "enable_ldm": switch(), "ldm_hash_log": whole(6, 18, enable_ldm=True),
        "ldm_min_match": whole(4, 256, log=True, enable_ldm=True),
        "ldm_bucket_size_log": whole(1, 8, enable_ldm=True),
        "ldm_hash_rate_log": whole(0, 12, enable_ldm=True)}, size)


# ---- whichever -----------------------------------------------------------------------

def pack_diabetes() -> Problem:
    """Which compressor, how set, and with which bytes beside each other?"""
    data = diabetes_bytes()

    def arranged(point: Point) -> bytes:
        if point["transpose"]:   # the k-th byte of every group together
            return b"".join(data[k::point["group"]] for k in range(point["group"]))
        return data

    def size(point: Point) -> float:
        import bz2
        import lzma
        import zlib

        import brotli
        import zstandard
        kind, given = point["packer"], arranged(point)
        if kind == "zlib":
            packer = zlib.compressobj(point["zlib_level"], zlib.DEFLATED, point["zlib_wbits"],
                                      point["zlib_memory"],
                                      getattr(zlib, f"Z_{point['zlib_strategy']}"))
            return len(packer.compress(given) + packer.flush())
        if kind == "bz2":
            return len(bz2.compress(given, point["bz2_level"]))
        if kind == "xz":
            filters = [{"id": lzma.FILTER_LZMA2, "preset": point["xz_preset"],
                        "lc": point["xz_lc"], "lp": point["xz_lp"], "pb": point["xz_pb"]}]
            return len(lzma.compress(given, lzma.FORMAT_RAW, filters=filters))
        if kind == "zstd":
            return len(zstandard.ZstdCompressor(level=point["zstd_level"]).compress(given))
        return len(brotli.compress(given, quality=point["brotli_quality"],
                                   lgwin=point["brotli_window"],
                                   mode=getattr(brotli, f"MODE_{point['brotli_mode']}")))

    return Problem({
        "transpose": switch(), "group": ordinal(2, 4, 8, 10, 20, 40, 80, transpose=True),
        "packer": choice("zlib", "bz2", "xz", "zstd", "brotli"),
        "zlib_level": whole(1, 9, packer="zlib"), "zlib_wbits": whole(9, 15, packer="zlib"),
        "zlib_memory": whole(1, 9, packer="zlib"),
        "zlib_strategy": choice("DEFAULT_STRATEGY", "FILTERED", "HUFFMAN_ONLY", "RLE",
                                "FIXED", packer="zlib"),
        "bz2_level": whole(1, 9, packer="bz2"),
        "xz_preset": whole(0, 9, packer="xz"), "xz_lc": whole(0, 4, packer="xz"),
        "xz_lp": whole(0, 4, packer="xz"), "xz_pb": whole(0, 4, packer="xz"),
        "zstd_level": whole(-5, 22, packer="zstd"),
        "brotli_quality": whole(0, 11, packer="brotli"),
        "brotli_window": whole(10, 24, packer="brotli"),
        "brotli_mode": choice("GENERIC", "TEXT", "FONT", packer="brotli")}, size)


MAKERS = {"xz-digits": xz_digits, "zstd-cancer": zstd_cancer, "pack-diabetes": pack_diabetes}
