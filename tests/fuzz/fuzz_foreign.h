/* fuzz_foreign.h - what holds whatever a file of another tuner says: a sentence, or a
 * space and a file for -f that gives the same space again. */
#ifndef FUZZ_FOREIGN_H
#define FUZZ_FOREIGN_H

#include <string.h>

#include "fuzz/fuzz_demand.h"
#include "io/foreign.h"
#include "io/spec_file.h"

static inline void demand_notes(const foreign *f) {
  for (const foreign_note *n = f->notes; n; n = n->next) {
    demand(n->text[0] != '\0' && cb_text_is_utf8(n->text), "a note is text");
    for (const char *c = n->text; *c; c++)
      demand((unsigned char)*c >= 0x20, "a note has no control characters");
  }
}

/* Reads the file that we wrote. */
static inline void demand_same_from_yaml(const front_buffer *yaml,
                                         const cocabo_space *space) {
  cocabo_error err;
  cli_spec spec = {0};
  demand(cli_spec_adopt(&spec, "yaml", yaml->data, yaml->size, &err) == COCABO_OK,
         "the file can be read");
  demand(cocabo_space_equal(space, spec.space), "and says the same");
  cli_spec_clear(&spec);
}

static inline void demand_foreign(foreign_format format, const char *text,
                                  size_t size) {
  foreign f, again;
  cocabo_error err;
  cocabo_space *space = NULL;
  front_buffer yaml = {0};
  foreign_detect("file", text, size);
  cocabo_status status = foreign_read(&f, "file", format, text, size, &err);
  if (status == COCABO_OK)
    status = foreign_space(&f, &space, &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
  } else {
    demand_same_again(space);
    demand(foreign_read(&again, "file", format, text, size, &err) == COCABO_OK &&
               foreign_put_yaml(&yaml, &again, &err) == COCABO_OK,
           "what was read can be written");
    demand_same_from_yaml(&yaml, space);
    demand_notes(&again);
    foreign_free(&again);
  }
  demand_notes(&f);
  front_buffer_free(&yaml);
  cocabo_space_free(space);
  foreign_free(&f);
}

#endif
