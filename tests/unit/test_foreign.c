/* Spaces of other tuners: whatever allocation fails, nothing worse happens. */
#include "check.h"

#include <string.h>

#include "common/base.h"
#include "io/foreign.h"

static const char irace[] =
    "b \"-b \" i (1, 9) | a %in% c(\"x\", \"y\") & !(c == 2) | -c < 1\n"
    "a \"--\" c (x, \"y z\", y)\nc \"-c=\" o (1, 2, 3) | a != \"nothing\"\n"
    "[forbidden]\nb > 3 & a == \"x\"\nunknown > 1\n[global]\ndigits = 4\n";
static const char pcs[] = "a categorical {x, y} [x]\nb real [0, 1] [0.5]log\n"
                          "c integer [1, 9] [1]\nc | a in {x} && b > 0.5 || a == y\n"
                          "{a=x, c=3}\n";
static const char configspace[] =
    "{\"hyperparameters\": [{\"name\": \"a\", \"type\": \"categorical\", \"choices\": "
    "[\"x\", 1], \"weights\": [1, 2]}, {\"name\": \"b\", \"type\": \"normal_float\", "
    "\"mu\": 0, \"sigma\": 1}], \"conditions\": [{\"child\": \"b\", \"type\": \"OR\", "
    "\"conditions\": [{\"child\": \"b\", \"parent\": \"a\", \"type\": \"EQ\", "
    "\"value\": "
    "\"x\"}, {\"child\": \"b\", \"parent\": \"a\", \"type\": \"IN\", \"values\": "
    "[1]}]}], \"forbiddens\": [{\"type\": \"EQUALS\", \"name\": \"a\", \"value\": 7}]}";

static cocabo_status convert(foreign_format format, const char *text) {
  foreign f;
  front_buffer out = {0};
  cocabo_error err = {0};
  cocabo_status status = foreign_read(&f, "file", format, text, strlen(text), &err);
  if (status == COCABO_OK)
    status = foreign_put_yaml(&out, &f, &err);
  assert_int_equal(err.code == COCABO_E_NO_MEMORY, status == COCABO_E_NO_MEMORY);
  front_buffer_free(&out);
  foreign_free(&f);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const char *const texts[] = {irace, pcs, configspace};
  const foreign_format formats[] = {FOREIGN_IRACE, FOREIGN_PCS, FOREIGN_CONFIGSPACE};
  for (int i = 0; i < 3; i++) {
    cocabo_status status = COCABO_E_NO_MEMORY;
    int k = 0;
    for (; status != COCABO_OK; k++) {
      cb_mem_fail_after(k);
      status = convert(formats[i], texts[i]);
      cb_mem_fail_after(-1);
      assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
    }
    assert_true(k > 20); /* of them failed */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("cli/foreign", tests, NULL, NULL);
}
