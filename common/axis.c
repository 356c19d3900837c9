/* axis.c - walks along a parameter, and settles what conditions make of a point. */
#include "common/axis.h"

#include <string.h>

#include "common/base.h"
#include "space/space.h"

size_t front_axis(const cocabo_space *space, size_t i, size_t n, cocabo_value *out) {
  const cb_param *p = &space->params[i];
  size_t count = 0;
  if (p->kind == CB_CHOICE) {
    for (int k = 0; k < p->n_choices; k++)
      out[count++] = p->choices[k];
    return count;
  }
  for (size_t k = 0; k < n; k++) {
    const double place = 2.0 * (double)k / (double)(n - 1) - 1.0;
    const cocabo_value value =
        cb_space_from_cell(space, (int)i, cb_param_cell(p, place));
    if (count == 0 || !cb_value_equal(&value, &out[count - 1]))
      out[count++] = value;
  }
  return count;
}

static cocabo_status settle(const cocabo_space *space, cocabo_value *values,
                            cb_cell *cells, cocabo_error *err) {
  for (int i = 0; i < space->n; i++)
    CB_TRY(cb_space_to_cell(space, i, &values[i], &cells[i], err));
  cb_space_settle(space, NULL, cells);
  for (int i = 0; i < space->n; i++)
    values[i] = cb_cell_is_active(cells[i]) ? cb_space_from_cell(space, i, cells[i])
                                            : cocabo_absent();
  return COCABO_OK;
}

cocabo_status front_settle(const cocabo_space *space, cocabo_value *values,
                           cocabo_error *err) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  return settle(space, values, cells, err);
}
