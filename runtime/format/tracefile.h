/*
 * tracefile - the bytes of a trace, as the runtime writes them.
 *
 * A trace is a folder. It holds `order`, a file of one shared 64-bit counter;
 * KEY.symbols, written once for each program, an array of SundewSymbol; with
 * sampling KEY.calls, a 64-bit counter of calls for each function; and
 * one stream for each thread of each process, PID.N.stream, N from 0. A stream
 * is a header and events:
 *
 *     SundewStreamHeader, text: key \n program name, padded to header.bytes
 *     event*   u8 tag  varint length  payload
 *
 * Streams are shared mappings of files, so what was written is there however
 * the process ends. The tag of an event is written last: a tag of 0 is the end of
 * what there is. Varints have 7 bits a byte, the least significant first; signed
 * ones are zigzag. Each payload begins with the event's number, as the
 * difference to the one before in the same stream; numbers are drawn from
 * `order`, so they order the events of all streams.
 *
 *   CALL     function  flags  nslots slot…  rest, if the flags say so  memory
 *   RETURN   call (own number minus the call's)  errno  nslots slot…  memory
 *   ALLOC    address  size
 *   FREE     address
 *   END      how (SUNDEW_END_…)  value
 *
 *   rest:    count, then for each  kind (SUNDEW_REST_…)  value: what was passed for the
 *            "..." of a function
 *   memory:  count, then for each  signed address (minus that of the one before,
 *            at first 0)  object size known here (0: not known)  type  size  bytes
 *
 * Functions and types are numbered as in tables.h.
 */
#ifndef SUNDEW_TRACEFILE_H
#define SUNDEW_TRACEFILE_H
#include <stdint.h>

#define SUNDEW_STREAM_MAGIC "SUNDEWTR"
enum { SUNDEW_STREAM_VERSION = 4 };

typedef struct SundewStreamHeader {
    char magic[8];
    uint32_t version;
    uint32_t bytes;        /* of the header with its text; a multiple of 8 */
    uint32_t pid, parent;
    uint32_t thread;       /* N of the file's name */
    uint32_t textlen;
    uint64_t born;         /* number of the stream's beginning in the order */
    uint64_t slide;        /* load address minus linked address */
    uint64_t begun;        /* … of the program's: another one after exec */
} SundewStreamHeader;

/* Where a variable or function of the program is, as linked. */
typedef struct SundewSymbol {
    uint32_t variable;     /* its number, or 0 */
    uint32_t function;
    uint64_t address, size;
} SundewSymbol;

enum SundewTraceTag {
    SUNDEW_TRACE_NOTHING,
    SUNDEW_TRACE_CALL,
    SUNDEW_TRACE_RETURN,
    SUNDEW_TRACE_ALLOC,
    SUNDEW_TRACE_FREE,
    SUNDEW_TRACE_END,
};

enum SundewTraceEnd {
    SUNDEW_END_EXIT = 1,   /* value: the status, as far as known */
    SUNDEW_END_SIGNAL,     /* value: the signal */
    SUNDEW_END_THREAD,
    SUNDEW_END_EXEC,
    SUNDEW_END_FULL,       /* budget or disk: recording stopped here */
};

enum {
    SUNDEW_CALL_CUT = 1,   /* a budget ended the copying */
    SUNDEW_CALL_REST = 2,
};

/* A variadic argument, as the call has it; its text stands in the memory. */
enum {
    SUNDEW_REST_INT = 'i',
    SUNDEW_REST_LONG = 'l',
    SUNDEW_REST_DOUBLE = 'd',
    SUNDEW_REST_TEXT = 's',      /* a char * */
    SUNDEW_REST_POINTER = 'p',   /* any other, or nobody knows */
    SUNDEW_MOST_REST = 16,
};
#endif
