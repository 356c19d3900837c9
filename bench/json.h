/* json.h - values printed to standard output as JSON. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

/* 17 digits, or null where the number is not finite. */
void bench_print_json_number(double value);

/* `size` bytes of text in quotes, with the escapes they need. */
void bench_print_json_text(const char *text, int size);

#endif
