/* json.h - values printed to standard output as JSON. */
#ifndef FRONT_JSON_H
#define FRONT_JSON_H

/* 17 digits, or null where the number is not finite. */
void front_print_json_number(double value);

/* `size` bytes of text in quotes, with the escapes they need. */
void front_print_json_text(const char *text, int size);

#endif
