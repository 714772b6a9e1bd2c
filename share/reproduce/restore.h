/*
 * restore.h - what the generated tests use to put a captured state back.
 *
 * It needs no other header, so that it can stand behind the source file under
 * test whatever that defines. restore.c has the bodies.
 */
#ifndef RESTORE_H
#define RESTORE_H
#ifndef NULL
#define NULL ((void *)0)
#endif

/* Zeroed memory of exactly this size. */
void *restore_object(unsigned long size);
void restore_bytes(void *to, const void *bytes, unsigned long size);
void restore_pointer(void *to, void *pointer);
void restore_zero(void *to, unsigned long size);
/* It was freed when the program crashed: so it is now. */
void restore_freed(void *object);

/* setjmp(): a longjmp() out of the function under test ends the test. */
int restore_setjmp(void *buffer) __asm__("_setjmp") __attribute__((returns_twice));

/* A FILE with this content, read up to `position`. */
void *restore_file(const char *bytes, unsigned long size, unsigned long position);
/* The same for standard input. */
void *restore_stdin(const char *bytes, unsigned long size, unsigned long position);
/* 0, 1, 2: stdin, stdout, stderr. */
void *restore_standard(int descriptor);

/* In trials only, while a test is being shrunk (trial.c). */
void **restore_load(unsigned test, void **named);
int restore_test(void);

/* What is passed to the function under test must not be seen through. */
#if defined __clang__
#pragma clang optimize off
#elif defined __GNUC__
#pragma GCC optimize ("O0")
#endif
#endif
