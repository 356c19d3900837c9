/* complete.h - what may come next on a command line, for the completions of shells.
 *
 *   cocabo --complete WORD ...
 *
 * takes the words after "cocabo", the last of which is the one at the cursor (perhaps
 * empty), and prints the candidates that continue it, one a line: the word, and after a
 * tab what it means. A line that is only a colon stands for file names. Not for people,
 * so no help mentions it.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "common/program.h"

int complete_main(const front_program *program, int argc, char **argv);

#endif
