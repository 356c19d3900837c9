// The headers in C++: they compile without a warning, and values are made by one word.
#include "cocabo.h"
#include "cocabo_store.h"

int main() {
  const cocabo_value values[] = {cocabo_null(), cocabo_absent(),  cocabo_bool(1),
                                 cocabo_int(7), cocabo_real(0.5), cocabo_text("a")};
  cocabo_known known = cocabo_known();
  cocabo_columns columns = cocabo_columns();
  known.values = values;
  columns.numbers = nullptr;
  return known.values[3].as.integer == 7 && !columns.numbers ? 0 : 1;
}
