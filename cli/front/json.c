#include "front/json.h"

#include <math.h>
#include <stdio.h>

void front_print_json_number(double value) {
  if (isfinite(value))
    printf("%.17g", value);
  else
    printf("null");
}

void front_print_json_text(const char *text, int size) {
  putchar('"');
  for (int i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}
