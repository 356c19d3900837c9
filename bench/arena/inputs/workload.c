/* workload.c - a fixed input of the problem programs/gcc-size: a little of everything
 * that compilers see, in one file that includes nothing of ours. It is never run, and
 * it is not to change, because the values of that problem are the bytes it becomes. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a hash table of words ----------------------------------------------------------
 */

typedef struct word {
  struct word *next;
  unsigned count;
  char text[32];
} word;

enum { BUCKETS = 251 };
static word *table[BUCKETS];

static uint32_t hash(const char *s) {
  uint32_t h = 2166136261u;
  for (; *s; s++)
    h = (h ^ (unsigned char)*s) * 16777619u;
  return h;
}

word *find(const char *text, int make) {
  word **at = &table[hash(text) % BUCKETS];
  for (; *at; at = &(*at)->next)
    if (strcmp((*at)->text, text) == 0)
      return *at;
  if (!make)
    return NULL;
  word *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  strncpy(w->text, text, sizeof w->text - 1);
  return *at = w;
}

size_t count_words(const char *text) {
  char buffer[32];
  size_t n = 0, total = 0;
  for (;; text++) {
    if (isalnum((unsigned char)*text) && n < sizeof buffer - 1) {
      buffer[n++] = (char)tolower((unsigned char)*text);
      continue;
    }
    if (n > 0) {
      buffer[n] = 0;
      word *w = find(buffer, 1);
      if (w && w->count++ == 0)
        total++;
      n = 0;
    }
    if (!*text)
      return total;
  }
}

/* ---- expressions --------------------------------------------------------------------
 */

static const char *cursor;
static double sum(void);

static void skip(void) {
  while (*cursor == ' ' || *cursor == '\t')
    cursor++;
}

static double call(const char *name, double x) {
  if (strcmp(name, "sin") == 0)
    return sin(x);
  if (strcmp(name, "exp") == 0)
    return exp(x);
  if (strcmp(name, "log") == 0)
    return log(x);
  if (strcmp(name, "sqrt") == 0)
    return sqrt(x);
  return NAN;
}

static double atom(void) {
  skip();
  switch (*cursor) {
  case '(': {
    cursor++;
    double v = sum();
    skip();
    if (*cursor == ')')
      cursor++;
    return v;
  }
  case '-':
    cursor++;
    return -atom();
  case '+':
    cursor++;
    return atom();
  case 'p':
    cursor++;
    return 3.14159265358979323846;
  case 'e':
    cursor++;
    return 2.71828182845904523536;
  case '!':
    cursor++;
    return atom() == 0.0;
  case '~':
    cursor++;
    return (double)~(int64_t)atom();
  default:
    break;
  }
  if (isalpha((unsigned char)*cursor)) {
    char name[16];
    size_t n = 0;
    while (isalpha((unsigned char)*cursor) && n < sizeof name - 1)
      name[n++] = *cursor++;
    name[n] = 0;
    return call(name, atom());
  }
  char *end;
  double v = strtod(cursor, &end);
  cursor = end;
  return v;
}

static double product(void) {
  double v = atom();
  for (;;) {
    skip();
    if (*cursor == '*')
      cursor++, v *= atom();
    else if (*cursor == '/')
      cursor++, v /= atom();
    else if (*cursor == '%')
      cursor++, v = fmod(v, atom());
    else
      return v;
  }
}

static double sum(void) {
  double v = product();
  for (;;) {
    skip();
    if (*cursor == '+')
      cursor++, v += product();
    else if (*cursor == '-')
      cursor++, v -= product();
    else
      return v;
  }
}

double evaluate(const char *text) {
  cursor = text;
  return sum();
}

/* ---- numbers ------------------------------------------------------------------------
 */

void multiply(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}

int cholesky(int n, double *a) {
  for (int j = 0; j < n; j++) {
    double d = a[j * n + j];
    for (int k = 0; k < j; k++)
      d -= a[j * n + k] * a[j * n + k];
    if (d <= 0)
      return j + 1;
    a[j * n + j] = d = sqrt(d);
    for (int i = j + 1; i < n; i++) {
      double s = a[i * n + j];
      for (int k = 0; k < j; k++)
        s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = s / d;
    }
  }
  return 0;
}

void sort(int *v, int n) {
  while (n > 12) {
    int pivot = v[n / 2], i = 0, j = n - 1;
    while (i <= j) {
      while (v[i] < pivot)
        i++;
      while (v[j] > pivot)
        j--;
      if (i <= j) {
        int t = v[i];
        v[i++] = v[j], v[j--] = t;
      }
    }
    if (j + 1 < n - i)
      sort(v, j + 1), v += i, n -= i;
    else
      sort(v + i, n - i), n = j + 1;
  }
  for (int i = 1; i < n; i++) {
    int t = v[i], j = i;
    for (; j > 0 && v[j - 1] > t; j--)
      v[j] = v[j - 1];
    v[j] = t;
  }
}

/* ---- bytes --------------------------------------------------------------------------
 */

size_t pack(const unsigned char *in, size_t n, unsigned char *out) {
  uint32_t heads[4096] = {0};
  size_t made = 0, i = 0;
  while (i < n) {
    size_t length = 0, at = 0;
    if (i + 4 <= n) {
      uint32_t four =
          in[i] | in[i + 1] << 8 | in[i + 2] << 16 | (uint32_t)in[i + 3] << 24;
      uint32_t *head = &heads[four * 2654435761u >> 20];
      at = *head;
      *head = (uint32_t)i + 1;
      if (at && i - (at - 1) < 65536)
        while (i + length < n && length < 255 && in[at - 1 + length] == in[i + length])
          length++;
    }
    if (length >= 4) {
      size_t back = i - (at - 1);
      out[made++] = 0xff, out[made++] = (unsigned char)length;
      out[made++] = (unsigned char)back, out[made++] = (unsigned char)(back >> 8);
      i += length;
    } else {
      if (in[i] == 0xff)
        out[made++] = 0xff, out[made++] = 0;
      else
        out[made++] = in[i];
      i++;
    }
  }
  return made;
}

uint32_t crc(const unsigned char *in, size_t n) {
  uint32_t c = ~0u;
  for (size_t i = 0; i < n; i++) {
    c ^= in[i];
    for (int k = 0; k < 8; k++)
      c = c >> 1 ^ (0xedb88320u & (0u - (c & 1)));
  }
  return ~c;
}

void histogram(const unsigned char *in, size_t n, unsigned counts[256]) {
  memset(counts, 0, 256 * sizeof counts[0]);
  for (size_t i = 0; i < n; i++)
    counts[in[i]]++;
}

int print_month(FILE *out, int month) {
  switch (month) {
  case 1:
    return fputs("January", out);
  case 2:
    return fputs("February", out);
  case 3:
    return fputs("March", out);
  case 4:
    return fputs("April", out);
  case 5:
    return fputs("May", out);
  case 6:
    return fputs("June", out);
  case 7:
    return fputs("July", out);
  case 8:
    return fputs("August", out);
  case 9:
    return fputs("September", out);
  case 10:
    return fputs("October", out);
  case 11:
    return fputs("November", out);
  case 12:
    return fputs("December", out);
  default:
    return fprintf(out, "month %d", month);
  }
}
