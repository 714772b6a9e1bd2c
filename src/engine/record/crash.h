/*
 * crash - a crash file, read: what failed, the frames with their arguments, and
 * the memory as it was when each frame was entered.
 *
 *     Crash *c = crash_open("prog.1234.crash", err);
 *     for (size_t f = 0; f < crash_nframes(c); f++) {
 *         const CrashFrame *fr = crash_frame(c, f);
 *         …
 *         crash_read(c, f, address, bytes, n, known);
 *     }
 *     crash_close(c);
 *
 * The file comes from another machine: nothing in it is believed without a
 * check. Addresses are those of the subject. Type and function numbers mean
 * the model whose key is crash_key(). A Crash owns all that it hands out.
 * The format is in runtime/format/crashfile.h.
 */
#ifndef SUNDEW_CRASH_H
#define SUNDEW_CRASH_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Crash Crash;

Crash *crash_open(const char *path, Err *err);
void crash_close(Crash *c);                    /* NULL is fine */
bool crash_is_cut_short(const Crash *c);

const char *crash_key(const Crash *c);
const char *crash_program(const Crash *c);     /* its name */
const char *crash_build(const Crash *c);       /* the user's version text */
const char *crash_strategy(const Crash *c);    /* reference, shallow, … */
uint64_t crash_slide(const Crash *c);

/* A program can be monitored in several ways; each makes other code, and a
 * crash file's addresses are those of one. `how` tells them apart. */
uint32_t crash_variant(const char *how);
/* Where the workspace keeps the executable, with its symbols. The caller frees it. */
char *crash_executable(const char *workspace, const char *key, const char *program,
                       const char *strategy, uint32_t variant);
/* The same for the one that wrote the file. */
char *crash_executable_of(const Crash *c, const char *workspace);

typedef struct CrashFailure {
    uint32_t kind;            /* enum SundewFailureKind */
    int signal;
    uint32_t access;          /* enum SundewAccess */
    uint64_t address, pc;
    bool nowhere;             /* outside of all addresses: the processor does not tell it */
    const char *text;         /* assertion, reason; "" */
} CrashFailure;
const CrashFailure *crash_failure(const Crash *c);
/* Return addresses of the thread that failed, innermost first; pc first. */
const uint64_t *crash_stack(const Crash *c, size_t *n);
/* What lies where in the subject: the file that is mapped at an address and the
 * address's place in that file. NULL: not known. */
const char *crash_mapped(const Crash *c, uint64_t address, uint64_t *offset);

typedef struct CrashFrame {
    uint32_t function;        /* Function.index + 1 */
    const char *symbol;
    unsigned flags;           /* SUNDEW_FRAME_… */
    const uint64_t *slots;
    unsigned nslots;
    const uint64_t *locals;   /* addresses of its escaping stack objects */
    unsigned nlocals;
} CrashFrame;
size_t crash_nframes(const Crash *c);          /* innermost first */
const CrashFrame *crash_frame(const Crash *c, size_t f);

typedef struct CrashObject {
    uint64_t address, size;
    uint32_t place;           /* enum SundewPlace */
    uint32_t type;            /* of an element, Type.index + 1; 0 */
    uint32_t variable;        /* of a global: place in program_variables() + 1 */
    uint32_t alive_in;        /* of what is freed: it was not yet in this frame and
                               * those further out; UINT32_MAX: not known */
    bool complete;            /* all its bytes are here */
} CrashObject;
size_t crash_nobjects(const Crash *c);         /* by address */
const CrashObject *crash_object(const Crash *c, size_t i);
/* The object that an address lies in, or just behind it; NULL: none is known. */
const CrashObject *crash_object_at(const Crash *c, uint64_t address);

/* The bytes at an address when frame f was entered, as far as they are known:
 * known[i] says so for each (may be NULL). Returns how many are. f at or above
 * crash_nframes(): as they were at the crash. */
size_t crash_read(const Crash *c, size_t f, uint64_t address, uint8_t *bytes, size_t n,
                  bool *known);
/* Is there a copy from the entry of f (or further in) at the address? */
bool crash_was_copied(const Crash *c, size_t f, uint64_t address);

/* Bytes as they stand in the file: what was kept, for people who want to see
 * all of it. `type` is that of an element, 0 if not known. */
typedef struct CrashBytes {
    uint64_t address;
    uint32_t type;
    uint32_t hidden;          /* how many of them were blanked */
    const uint8_t *bytes;
    size_t n;
} CrashBytes;
/* The copies of frame f; f at or above crash_nframes(): memory at the crash. */
const CrashBytes *crash_bytes(const Crash *c, size_t f, size_t *n);

typedef struct CrashFile {
    uint64_t address;         /* of the FILE */
    int fd;
    unsigned flags;
    uint64_t position, start;
    const uint8_t *bytes;
    size_t n;
    const char *name;         /* below the folder of the program, without ..; NULL: not known */
} CrashFile;
const CrashFile *crash_file_at(const Crash *c, uint64_t address);   /* or NULL */
const CrashFile *crash_files(const Crash *c, size_t *n);
/* Name of an external function that has this address; NULL. */
const char *crash_external(const Crash *c, uint64_t address);

typedef struct CrashLack {
    uint32_t code;            /* enum SundewLack */
    uint32_t frame;
    uint64_t address, amount;
    const char *text;
} CrashLack;
const CrashLack *crash_lacks(const Crash *c, size_t *n);
#endif
