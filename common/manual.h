/* manual.h - the man pages, from the tables that --help is printed from.
 *
 *   PROGRAM --man                 the page of the program
 *   PROGRAM --man COMMAND         the page of a command
 *   PROGRAM --man --into FOLDER   all of them, as files
 *
 * Called when the program is built; not for people, so no help mentions it. */
#ifndef FRONT_MANUAL_H
#define FRONT_MANUAL_H

#include "common/program.h"

int front_manual(const front_program *program, int argc, char **argv);

#endif
