/* The one way to write a file as a whole (ADR 0017). A verb's outputs appear together when it succeeds, or not at all:
 *
 *   output_reads(), output_reserve()   what must not be replaced; readers of files note what they read themselves
 *   output_check()                     before the work: could it be written at the end?
 *   output_open()                      a stream; a file's content is gathered beside it, its old content stays
 *   output_commit()                    all that was opened takes its place
 *   output_discard()                   or none of it
 *
 * "-" is standard output. Pipes, devices, /dev/stdout and /dev/fd/N are written as they are. Links are followed. A file
 * that is there keeps its mode and owner; one with several names, attributes or another's owner keeps its inode.
 * Block files are appended to and do not come here: blockfile_writer_open(). One process, one thread. */
#ifndef PIOLET_BASE_OUTPUT_H
#define PIOLET_BASE_OUTPUT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* This process reads `path` ("-": standard input). */
void output_reads(const char *path);

/* `path` is where `what` ("the results go"; lives as long as the process): no output may go there. */
void output_reserve(const char *path, const char *what);

/* Refuses what is read or reserved, what an earlier check named, and what could not be written. Touches nothing. */
pl_status output_check(const char *path, struct pl_error *error);

/* Refuses what is read; for files that are appended to and may not be among those that they follow from. */
pl_status output_check_unread(const char *path, struct pl_error *error);

/* The stream belongs to this module: end it by output_finish() or output_commit(), not by fclose(). */
pl_status output_open(const char *path, FILE **ret_stream, struct pl_error *error);

/* No more comes: a full disk is found here. A pipe or device has all of it now. Accepts NULL. */
pl_status output_finish(FILE *stream, struct pl_error *error);

/* Did output_finish() say that standard output could not be written? Once is enough. */
bool output_stdout_failed(void);

/* Why a stream could not be written, which stdio forgets; 0: all of it arrived so far. A broken stream is written to.
 */
int output_stream_errno(FILE *stream);

/* Finishes all streams, then puts all files in their places. After an error nothing more is changed. */
pl_status output_commit(struct pl_error *error);

/* Drops all that was opened and not committed. Safe in a signal handler. */
void output_discard(void);

#endif
