/* A beam that sticks out of a wall, 1 m long, with 500 N at its end:
 *   beam MATERIAL SECTION WIDTH_MM WALL
 * Its cost goes to the file COCABO_RESULT, or to standard output if there is none. A
 * beam that breaks or bends too far is no solution: the exit status says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct material {
  const char *name;
  double density, stiffness, strength; /* kg/m^3, Pa, Pa */
  double price;                        /* per kg */
} material;

static const material materials[] = {{"steel", 7850, 210e9, 250e6, 1.1},
                                     {"aluminium", 2700, 69e9, 150e6, 3.2},
                                     {"titanium", 4500, 110e9, 800e6, 28.0},
                                     {"oak", 700, 11e9, 40e6, 1.6}};

static const material *find_material(const char *name) {
  for (size_t i = 0; i < sizeof materials / sizeof *materials; i++)
    if (strcmp(materials[i].name, name) == 0)
      return &materials[i];
  fprintf(stderr, "no such material: %s\n", name);
  exit(2);
}

/* Area and second moment of a square or a circle of width w, in m. */
static void section(const char *shape, double w, double *area, double *moment) {
  const double pi = acos(-1.0);
  const int round = strcmp(shape, "round") == 0;
  *area = round ? pi * w * w / 4 : w * w;
  *moment = round ? pi * pow(w, 4) / 64 : pow(w, 4) / 12;
}

static int write_result(double value) {
  const char *path = getenv("COCABO_RESULT");
  FILE *file = path ? fopen(path, "w") : stdout;
  if (!file || fprintf(file, "%.17g\n", value) < 0 || fflush(file) != 0)
    return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: beam MATERIAL SECTION WIDTH_MM WALL\n");
    return 2;
  }
  const material *m = find_material(argv[1]);
  const double width = 1e-3 * atof(argv[3]), hole = width * (1.0 - atof(argv[4]));
  double area, moment, hole_area, hole_moment;
  section(argv[2], width, &area, &moment);
  section(argv[2], hole, &hole_area, &hole_moment);
  area -= hole_area;
  moment -= hole_moment;

  const double force = 500.0, length = 1.0;
  const double bend = force * pow(length, 3) / (3 * m->stiffness * moment);
  const double stress = force * length * (width / 2) / moment;
  if (bend > 0.01 || stress > m->strength / 1.5) {
    fprintf(stderr, "bends %.3g mm under %.3g MPa\n", 1e3 * bend, 1e-6 * stress);
    return EXIT_FAILURE;
  }
  const double working = 1.0 + 0.02 / (width - hole); /* thin walls are dear to make */
  return write_result(m->price * m->density * area * length * working);
}
