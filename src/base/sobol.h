/* sobol.h - Sobol points: they fill the unit cube more evenly than chance does.
 *
 * The first 2^m points, and every further 2^m, have exactly one point in each of 2^m
 * equal intervals of every coordinate, and similar properties in several at once. Plain
 * points are the same for everybody, and the first is the origin. Scrambling (Owen,
 * 1995) keeps the properties and makes every single point uniform: each bit of a
 * coordinate is flipped by a random function of the bits above it. With a counter-based
 * generator that function needs no memory.
 */
#ifndef CB_BASE_SOBOL_H
#define CB_BASE_SOBOL_H

#include <stdint.h>

enum { CB_SOBOL_DIMENSIONS = 200 };

/* Coordinate j of plain point i times 2^32, 0 <= j < CB_SOBOL_DIMENSIONS. Points come
 * in the order of Gray codes, in which they are usually listed. */
uint32_t cb_sobol_plain(int j, uint32_t i);

/* The same scrambled, in [0, 1): 53 bits, the lower 21 of them random. */
double cb_sobol_scrambled(uint64_t seed, int j, uint32_t i);

#endif
