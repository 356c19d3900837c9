/* vector.h - one binary, the widest vectors the processor has.
 *
 * The inner loops are compiled once per instruction set, and every call goes to the
 * widest that the processor has. To write one, mark the loops and name the function:
 *
 *   CB_LOOPS void scale_loops(int n, double by, double *x) { ... }
 *   CB_DISPATCH_VOID(extern, scale, (int n, double by, double *x), (n, by, x))
 *
 * defines scale() out of scale_loops(). What the loops call must be CB_LOOPS too, or it
 * stays plain code. They only do element-wise IEEE arithmetic without contraction, and
 * sums in an order that the source fixes, so that every variant gives the same bits.
 * Elsewhere than on x86-64 there is one variant, which the compiler vectorises for what
 * every processor of its kind has. Decision 0014 says why there is no fma().
 */
#ifndef CB_BASE_VECTOR_H
#define CB_BASE_VECTOR_H

#include <stdint.h>

typedef enum cb_vector { CB_PLAIN, CB_AVX2, CB_AVX512 } cb_vector;

/* The widest that the loops may use on this processor. From any thread. */
cb_vector cb_vector_widest(void);

/* No wider than this from now on; for tests that compare the variants. */
void cb_vector_limit(cb_vector most);

#define CB_LOOPS static inline __attribute__((always_inline))

/* Vectors for loops that compilers do not vectorise by themselves, which may be loaded
 * from any double; and what comparing two of them gives, all ones or all zeros. */
#define CB_VECTORS_(lanes)                                                             \
  typedef double cb_vec##lanes                                                         \
      __attribute__((vector_size((lanes) * sizeof(double)), aligned(8), may_alias));   \
  typedef int64_t cb_mask##lanes                                                       \
      __attribute__((vector_size((lanes) * sizeof(int64_t)), aligned(8), may_alias));
CB_VECTORS_(2)
CB_VECTORS_(4)
CB_VECTORS_(8)

/* Of sums that are kept in eight lanes, in the order in which vectors are added up. */
CB_LOOPS double cb_sum_8(const double s[8]) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types, parameters and arguments have none.
 *
 * How a variant calls the loops; with CB_DISPATCH_LANES they get the number of doubles
 * in its vectors as their first argument, a constant. */
#define CB_UNPAREN_(...) __VA_ARGS__
#define CB_CALL_(name, lanes, args) name##_loops args
#define CB_CALL_LANES_(name, lanes, args) name##_loops(lanes, CB_UNPAREN_ args)

#ifdef __x86_64__
#define CB_DISPATCH_(give, linkage, type, name, params, args, call)                    \
  __attribute__((target("avx512f"))) static type name##_avx512 params {                \
    give call(name, 8, args);                                                          \
  }                                                                                    \
  __attribute__((target("avx2"))) static type name##_avx2 params {                     \
    give call(name, 4, args);                                                          \
  }                                                                                    \
  static type name##_plain params {                                                    \
    give call(name, 2, args);                                                          \
  }                                                                                    \
  linkage type name params {                                                           \
    static type(*const variants[]) params = {                                          \
        [CB_PLAIN] = name##_plain,                                                     \
        [CB_AVX2] = name##_avx2,                                                       \
        [CB_AVX512] = name##_avx512,                                                   \
    };                                                                                 \
    give variants[cb_vector_widest()] args;                                            \
  }
#else
#define CB_DISPATCH_(give, linkage, type, name, params, args, call)                    \
  linkage type name params {                                                           \
    give call(name, 2, args);                                                          \
  }
#endif

#define CB_DISPATCH(linkage, type, name, params, args)                                 \
  CB_DISPATCH_(return, linkage, type, name, params, args, CB_CALL_)
#define CB_DISPATCH_VOID(linkage, name, params, args)                                  \
  CB_DISPATCH_(, linkage, void, name, params, args, CB_CALL_)
#define CB_DISPATCH_LANES(linkage, name, params, args)                                 \
  CB_DISPATCH_(, linkage, void, name, params, args, CB_CALL_LANES_)

/* NOLINTEND(bugprone-macro-parentheses) */

#endif
