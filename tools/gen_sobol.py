#!/usr/bin/env python3
"""Direction numbers of Sobol points, and points to compare with, both from scipy.

    python3 tools/gen_sobol.py      writes src/base/sobol_numbers.h, tests/oracle/sobol.h

scipy carries the table new-joe-kuo-6.21201 of Joe and Kuo (2008); ours is its beginning.
Needs scipy; building and testing only need the committed results.
"""

import pathlib

import numpy
import scipy.stats
from scipy.stats import _qmc

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIMENSIONS = 200  # COCABO_MAX_PARAMETERS
POINTS = [0, 1, 2, 3, 4, 5, 7, 12, 31, 100, 255, 256, 777, 1023, 4095, 65535]

NOTICE = """\
/* sobol_numbers.h - primitive polynomials and initial direction numbers of Joe and Kuo
 * (2008), table new-joe-kuo-6.21201, for dimensions 2 to 200.
 * Made by tools/gen_sobol.py; do not edit.
 *
 * A row is a polynomial, its bits the coefficients, and m_1 .. m_s, s its degree.
 *
 * Copyright (c) 2008, Frances Y. Kuo and Stephen Joe. All rights reserved.
 *
 * Redistribution and use in source and binary forms, with or without modification, are
 * permitted provided that the following conditions are met:
 *
 * - Redistributions of source code must retain the above copyright notice, this list of
 *   conditions and the following disclaimer.
 * - Redistributions in binary form must reproduce the above copyright notice, this list
 *   of conditions and the following disclaimer in the documentation and/or other
 *   materials provided with the distribution.
 * - Neither the names of the copyright holders nor the names of the University of New
 *   South Wales and the University of Waikato and its contributors may be used to
 *   endorse or promote products derived from this software without specific prior
 *   written permission.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS" AND ANY EXPRESS OR IMPLIED
 * WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY
 * AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
 * HOLDERS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR
 * CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS
 * OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED
 * AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
 * (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
 * SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE. */
"""


def write_numbers():
    table = numpy.load(pathlib.Path(_qmc.__file__).parent / "_sobol_direction_numbers.npz")
    width = int(table["poly"][DIMENSIONS - 1]).bit_length()
    lines = [NOTICE + "/* clang-format off */", "#ifndef CB_BASE_SOBOL_NUMBERS_H",
             "#define CB_BASE_SOBOL_NUMBERS_H", "", "#include <stdint.h>", "",
             "static const uint16_t joe_kuo[%d][%d] = {" % (DIMENSIONS - 1, width)]
    for j in range(1, DIMENSIONS):
        poly = int(table["poly"][j])
        row = [poly] + [int(m) for m in table["vinit"][j][:poly.bit_length() - 1]]
        lines.append("    {%s}," % ", ".join(map(str, row)))
    lines += ["};", "", "#endif", ""]
    (ROOT / "src" / "base" / "sobol_numbers.h").write_text("\n".join(lines))


def write_oracle():
    engine = scipy.stats.qmc.Sobol(DIMENSIONS, scramble=False, bits=32)
    points = engine.random_base2(16)[POINTS] * 2.0**32
    lines = ["/* sobol.h - coordinates of plain Sobol points, times 2^32, by scipy.",
             " * Made by tools/gen_sobol.py; do not edit. */", "/* clang-format off */",
             "#ifndef CB_TESTS_ORACLE_SOBOL_H", "#define CB_TESTS_ORACLE_SOBOL_H", "",
             "static const struct { uint32_t i, at[%d]; } oracle_sobol[] = {" % DIMENSIONS]
    for i, point in zip(POINTS, points):
        lines.append("    {%du, {%s}}," % (i, ", ".join("%du" % u for u in point)))
    lines += ["};", "", "#endif", ""]
    (ROOT / "tests" / "oracle" / "sobol.h").write_text("\n".join(lines))


if __name__ == "__main__":
    write_numbers()
    write_oracle()
