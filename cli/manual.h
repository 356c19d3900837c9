/* manual.h - the man pages, from the tables that --help is printed from.
 *
 *   cocabo --man                 the page of the program
 *   cocabo --man ask             the page of a command
 *   cocabo --man --into FOLDER   all of them, as files
 *
 * Called when the program is built; not for people, so no help mentions it. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "common/program.h"

int manual_main(const front_program *program, int argc, char **argv);

#endif
