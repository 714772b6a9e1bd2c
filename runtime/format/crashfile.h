/*
 * crashfile - the bytes of a crash file, as the runtime writes them.
 *
 *     "SUNDEWCR"  u32 version  u32 zero
 *     record*     u32 tag  u32 length  payload, padded with zeros to 8 bytes
 *
 * Numbers are in the subject's own byte order (little-endian on all supported
 * machines). Texts are in a record's tail, without NUL, up to its end. A file
 * without a SUNDEW_REC_END was cut short; what stands before is good. Unknown
 * tags are skipped. `length` is the payload's, without the padding.
 *
 * Memory is kept by address as it was in the subject. Frames are from the
 * innermost outwards. The state in which frame f was entered, at an address, is
 * the first that has it of: the copies of f; those of the frames further in,
 * nearest to f first; the memory record.
 */
#ifndef SUNDEW_CRASHFILE_H
#define SUNDEW_CRASHFILE_H
#include <stdint.h>

#define SUNDEW_CRASH_MAGIC "SUNDEWCR"
enum { SUNDEW_CRASH_VERSION = 1 };

enum SundewRecord {
    SUNDEW_REC_BUILD = 1,  /* SundewBuild, text: key \n program \n build text */
    SUNDEW_REC_FAILURE,    /* SundewFailure, text: what was said */
    SUNDEW_REC_STACK,      /* SundewStack, then u64 return addresses, inmost first */
    SUNDEW_REC_FRAME,      /* SundewFrameRecord, u64 slots, u64 locals, text: symbol */
    SUNDEW_REC_COPY,       /* SundewCopyRecord, bytes */
    SUNDEW_REC_MEMORY,     /* SundewMemory, bytes */
    SUNDEW_REC_FILE,       /* SundewFileRecord, bytes of the file */
    SUNDEW_REC_EXTERNAL,   /* u64 address, text: symbol */
    SUNDEW_REC_MAPS,       /* text of /proc/self/maps: executable parts only */
    SUNDEW_REC_MISSING,    /* SundewMissing, text */
    SUNDEW_REC_END,        /* nothing */
    SUNDEW_REC_FILE_NAME,  /* u64 address of a FILE before, text: its path, below the folder
                            * in which the program ran; all of the file is there */
};

typedef struct SundewBuild {
    uint64_t slide;        /* load address minus linked address */
    uint32_t strategy;     /* and the tables' variant, from bit 8 on */
    uint32_t pid;
} SundewBuild;

enum SundewAccess { SUNDEW_ACCESS_NONE, SUNDEW_READ, SUNDEW_WRITE, SUNDEW_EXECUTE };
enum SundewFailureKind {
    SUNDEW_FAIL_SIGNAL = 1,
    SUNDEW_FAIL_ABORT,
    SUNDEW_FAIL_ASSERT,
    SUNDEW_FAIL_SANITIZER,
    SUNDEW_FAIL_STACK_OVERFLOW,
    SUNDEW_FAIL_DUMP,
    SUNDEW_FAIL_EXIT,
};

typedef struct SundewFailure {
    uint32_t kind;         /* enum SundewFailureKind */
    int32_t signal;        /* 0: none */
    int32_t code;          /* si_code */
    uint32_t access;       /* enum SundewAccess */
    uint64_t address;      /* that was touched */
    uint64_t pc, sp;
    uint32_t thread;       /* as in SundewStack */
    uint32_t pad;
} SundewFailure;

typedef struct SundewStack {
    uint32_t thread;       /* 0: the one that failed */
    uint32_t count;
} SundewStack;

enum {
    SUNDEW_FRAME_STALE = 1,      /* left by longjmp or the like: was on the stack */
    SUNDEW_FRAME_REFERENCE = 2,  /* was demoted: nothing copied at its entry */
    SUNDEW_FRAME_CUT = 4,        /* a budget ended its copying */
    SUNDEW_FRAME_UNSURE = 8,     /* inlined functions say no word when they are left: the
                                  * names of the machine's stack tell if it was there */
    SUNDEW_FRAME_ELSEWHERE = 16, /* main() of the main thread; another one failed */
};

typedef struct SundewFrameRecord {
    uint32_t frame;        /* number, from 0 */
    uint32_t function;     /* Function.index + 1 */
    uint32_t flags;
    uint16_t nslots, nlocals;
    uint64_t sp;
} SundewFrameRecord;

typedef struct SundewCopyRecord {
    uint32_t frame;
    uint32_t type;         /* of what lies at the address; 0 */
    uint64_t address;
} SundewCopyRecord;

enum SundewPlace {
    SUNDEW_HEAP = 1,
    SUNDEW_FREED,
    SUNDEW_GLOBAL,
    SUNDEW_STACK,
    SUNDEW_TEXT_LITERAL,
    SUNDEW_GUESSED,        /* readable, but where it begins and ends is not known */
    SUNDEW_ARGUMENT,       /* a string of main()'s argv, as long as it was at the start */
};

typedef struct SundewMemory {
    uint64_t address;      /* of the object's first byte */
    uint64_t size;         /* of the object; the bytes here may be fewer */
    uint64_t offset;       /* of the first byte here */
    uint32_t place;        /* enum SundewPlace */
    uint32_t type;         /* element type; 0: not known */
    uint32_t variable;     /* of a global: its number; of what is freed: the
                            * innermost frame in which it was not yet, plus 1,
                            * or 0 if that is not known; its first bytes are as
                            * they were then */
    uint32_t hidden;       /* bytes that were blanked */
} SundewMemory;

typedef struct SundewFileRecord {
    uint64_t address;      /* of the FILE */
    int32_t fd;
    uint32_t flags;        /* of open() */
    uint64_t position;     /* of the descriptor */
    uint64_t start;        /* where in the file the bytes are from */
} SundewFileRecord;

enum SundewLack {
    SUNDEW_LACK_BUDGET = 1,
    SUNDEW_LACK_UNREADABLE,
    SUNDEW_LACK_FOREIGN,
    SUNDEW_LACK_UNTYPED,
    SUNDEW_LACK_THREAD,
    SUNDEW_LACK_VARARGS,
    SUNDEW_LACK_STALE,
    SUNDEW_LACK_OFF,       /* a function on the stack was off or not monitored */
};

typedef struct SundewMissing {
    uint32_t code;         /* enum SundewLack */
    uint32_t frame;
    uint64_t address;
    uint64_t amount;
} SundewMissing;
#endif
