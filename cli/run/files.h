/* files.h - the open files of the small processes beside us. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

/* Nobody shall wait for a small process because it has their file: closes everything
 * but the n files given, none of which is a standard one (-1: there is none). Standard
 * input, output and error become /dev/null. Needs no file to be free, and is safe in
 * the child of a process with threads. */
void cli_keep_files(const int *files, int n);

#endif
