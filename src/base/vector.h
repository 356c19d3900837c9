/* vector.h - one binary, the widest vectors the processor has.
 *
 * A function marked CB_VECTORISED is compiled once per instruction set and the right
 * one is chosen when the library is loaded. Such functions only do element-wise IEEE
 * arithmetic without contraction, so every clone gives the same bits. Sanitizers start
 * after the choice is made and clang 14 cannot clone: there the plain code serves.
 */
#ifndef CB_BASE_VECTOR_H
#define CB_BASE_VECTOR_H

#if defined(__x86_64__) && !defined(CB_SANITIZED) && !defined(__clang__)
#define CB_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CB_VECTORISED
#endif

#endif
