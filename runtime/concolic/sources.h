/*
 * sources - labels of what is read, in the concolic build.
 *
 * Standins of read(), fgets() and their kin (runtime/standins/io.c) call the real
 * function and then say here what came from where. What is read from the input
 * (input.h) has the labels of its bytes. What the program itself has written
 * into a file or a pipe comes back with the labels that it had, also in another
 * process of the same run.
 *
 * A byte is believed to be what was noted only if it has the same value.
 */
#ifndef SUNDEW_SOURCES_H
#define SUNDEW_SOURCES_H
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* At the start of each run. */
void sundew_sources_start(void);

/* n bytes were read from a descriptor, and are now at `to`; `offset` in its file, or -1: those
 * before its position. */
void sundew_was_read(int fd, void *to, uint64_t n, int64_t offset);
/* n bytes at `from` are about to be written: 1 if it is a pipe, whose reader may be quicker
 * than we are, and that was noted. Then sundew_was_not_written() gets the rest. */
int sundew_will_write(int fd, const void *from, uint64_t n);
void sundew_was_not_written(int fd, uint64_t n);
/* Two ends of one connection: what is written to one is read from the other. */
void sundew_was_paired(int a, int b);
/* n bytes at `from` were written, to a file. */
void sundew_was_written(int fd, const void *from, uint64_t n, int64_t offset);

/* Is something to be noted for this stream, or was it? 0: let the real function do it. */
int sundew_reads_labels(FILE *f);
int sundew_keeps_labels(FILE *f);
/* The place of a stream before a call, and what the call read from there or wrote
 * there. With -1 as place nothing is done. */
int64_t sundew_place(FILE *f);
void sundew_was_read_at(FILE *f, int64_t place, void *to, uint64_t n);
void sundew_was_written_at(FILE *f, int64_t place, const void *from, uint64_t n);
/* A stream was moved by fseek() and the like. */
void sundew_was_moved(FILE *f);
/* A file is at `at` in memory. */
void sundew_was_mapped(int fd, void *at, uint64_t n, int64_t offset);
#endif
