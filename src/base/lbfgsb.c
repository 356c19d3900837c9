#include "base/lbfgsb.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

enum {
  MEMORY = 10, /* corrections kept by the quasi-Newton matrix */
  TASK = 60    /* length of the reverse-communication string */
};

/* No header is shipped with the library; Fortran passes by reference, and the lengths
 * of the two strings come last. */
extern void setulb_(const int *n, const int *m, double *x, const double *lower,
                    const double *upper, const int *bound_kind, double *f, double *g,
                    const double *factr, const double *pgtol, double *wa, int *iwa,
                    char *task, const int *iprint, char *csave, int *lsave, int *isave,
                    double *dsave, size_t task_length, size_t csave_length);

struct cb_lbfgsb {
  int n;
  double *wa;       /* (2 m + 5) n + 11 m^2 + 8 m: the library's */
  double *gradient; /* n */
  double *best;     /* n: best point seen */
  int *iwa;         /* 3 n: the library's */
  int *bound_kind;  /* n: 2 = bounded on both sides */
  char task[TASK], csave[TASK];
  int lsave[4], isave[44];
  double dsave[29];
};

cocabo_status cb_lbfgsb_new(cb_lbfgsb **out, int n, cocabo_error *err) {
  *out = NULL;
  const size_t wa =
      (size_t)(2 * MEMORY + 5) * (size_t)n + 11 * MEMORY * MEMORY + 8 * MEMORY;
  const size_t doubles = wa + 2 * (size_t)n, ints = 4 * (size_t)n;
  /* One block: the struct, then doubles, then ints. */
  cb_lbfgsb *ws =
      cb_calloc(1, sizeof *ws + doubles * sizeof(double) + ints * sizeof(int));
  if (!ws)
    return cb_no_memory(err);
  ws->n = n;
  ws->wa = (double *)(ws + 1);
  ws->gradient = ws->wa + wa;
  ws->best = ws->gradient + n;
  ws->iwa = (int *)(ws->best + n);
  ws->bound_kind = ws->iwa + 3 * n;
  for (int i = 0; i < n; i++)
    ws->bound_kind[i] = 2;
  *out = ws;
  return COCABO_OK;
}

void cb_lbfgsb_free(cb_lbfgsb *ws) {
  cb_free(ws);
}

static void set_task(cb_lbfgsb *ws, const char *text) {
  memset(ws->task, ' ', TASK);
  memcpy(ws->task, text, strlen(text));
}

static int task_is(const cb_lbfgsb *ws, const char *text) {
  return strncmp(ws->task, text, strlen(text)) == 0;
}

static void clip(int n, double *x, const double *lower, const double *upper) {
  for (int i = 0; i < n; i++)
    x[i] = fmin(fmax(x[i], lower[i]), upper[i]);
}

double cb_lbfgsb_minimise(cb_lbfgsb *ws, double *x, const double *lower,
                          const double *upper, cb_objective f, void *context,
                          const cb_lbfgsb_limits *limits) {
  const int m = MEMORY, quiet = -1;
  const double factr = limits->f_tolerance / 2.220446049250313e-16;
  double value = 0.0, best_value = INFINITY;
  const size_t bytes = (size_t)ws->n * sizeof(double);

  clip(ws->n, x, lower, upper);
  memcpy(ws->best, x, bytes);
  memset(ws->csave, ' ', TASK);
  set_task(ws, "START");
  for (int evaluations = 0;;) {
    setulb_(&ws->n, &m, x, lower, upper, ws->bound_kind, &value, ws->gradient, &factr,
            &limits->grad_tolerance, ws->wa, ws->iwa, ws->task, &quiet, ws->csave,
            ws->lsave, ws->isave, ws->dsave, TASK, TASK);
    if (task_is(ws, "NEW_X"))
      continue;
    if (!task_is(ws, "FG") || evaluations == limits->max_evaluations)
      break; /* converged, failed in its line search, or out of budget */
    value = f(context, x, ws->gradient);
    evaluations++;
    if (value < best_value) {
      best_value = value;
      memcpy(ws->best, x, bytes);
    }
    if (!isfinite(value)) {
      /* A huge flat value makes the line search shorten its step. */
      value = 1e300;
      memset(ws->gradient, 0, bytes);
    }
  }
  memcpy(x, ws->best, bytes);
  return best_value;
}
