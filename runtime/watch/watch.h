/*
 * watch - what the weave of watching (src/weave/watch/) calls: one function for each
 * kind of observation. `slot` says which slot of the evidence file it belongs to.
 *
 * A probe looks and counts. It changes neither memory of the program nor errno,
 * allocates nothing, and takes no lock of the program's. Without an evidence file
 * (SUNDEW_WATCH names none, and the weave named none) probes return at once.
 *
 * Environment:
 *     SUNDEW_WATCH=FILE        the evidence file
 *     SUNDEW_WATCH_INJECT=N    calls that the weave made to fail do so at slot N
 *     SUNDEW_WATCH_INJECT=N:E  transfers fail with errno E there
 */
#ifndef SUNDEW_WATCH_H
#define SUNDEW_WATCH_H
#include <stddef.h>
#include <stdint.h>

enum {
    SUNDEW_WATCH_DUAL = 10000,   /* second calls of a pure function at a site */
    SUNDEW_WATCH_LOOKS = 200,    /* system calls that a site may cost */
    SUNDEW_WATCH_LOADS = 1000,   /* of a field, after each time it was freed */
    SUNDEW_WATCH_ENOUGH = 100000, /* opportunities that are counted; more do not matter */
    SUNDEW_WATCH_KEYS = 64,      /* copies of keys that are kept for a hash function */
    SUNDEW_WATCH_TEXT = 128,     /* bytes of a key */
};

/* ---- written by the weave */
extern const char sundew_watch_path[];   /* the evidence file without SUNDEW_WATCH; "": none */
extern const char sundew_watch_key[];
extern const uint32_t sundew_watch_nslots;

/* ---- sites */
void sundew_watch_hit(uint32_t slot);
/* A value; `bad` if it speaks for the warning. */
void sundew_watch_value(uint32_t slot, int64_t v, uint32_t bad);
void sundew_watch_pair(uint32_t slot, int64_t a, int64_t b);
/* A transfer over a descriptor. */
void sundew_watch_count(uint32_t slot, int64_t fd, int64_t want, int64_t got);
/* fread() and fwrite(). */
void sundew_watch_stream(uint32_t slot, void *stream, int64_t want, int64_t got);
/* snprintf(): `texts` bytes of `got` came from the arguments that sundew_watch_text() saw. */
int64_t sundew_watch_text(uint32_t slot, const char *text);
void sundew_watch_print(uint32_t slot, int64_t got, int64_t size, int64_t texts);
/* strncpy(): are there `n` bytes without a NUL at `from`? */
void sundew_watch_copy_text(uint32_t slot, const char *from, uint64_t n);
/* strtol() without an end. */
void sundew_watch_number(uint32_t slot, const char *text, int64_t base);
/* A format that is no constant. */
void sundew_watch_format(uint32_t slot, const char *format);
/* The program asked about a path, and then uses it. */
void sundew_watch_path_use(uint32_t slot, const char *path);

/* A command for the shell or (`sql`) a database; `own`: texts of the code that makes it. */
void sundew_watch_command(uint32_t slot, const char *text, const char *own, uint32_t sql);
/* Bytes that came in; a line of fgets(); what getline() left at *line. */
void sundew_watch_input(const void *p, int64_t n);
void sundew_watch_input_text(const char *text, int64_t n);
void sundew_watch_input_line(char *const *line, int64_t n);
/* readv() and writev(). */
struct iovec;
void sundew_watch_vector(uint32_t slot, int64_t fd, const struct iovec *v, int64_t n, int64_t got);

/* ---- regions: the right operand of & and | */
void sundew_watch_region(uint32_t slot, uint32_t left_decides);
void sundew_watch_effect(void);
void sundew_watch_region_end(uint32_t slot);

/* ---- pure functions that are called a second time */
typedef int SundewCompare(const void *, const void *);
/* `size`: of an element, 0: not known. While a sort runs, three elements are compared, too. */
void sundew_watch_compare(uint32_t slot, SundewCompare *f, const void *a, const void *b, int r,
                          uint32_t size);
void sundew_watch_sort(uint32_t slot, uint32_t begins);
/* memcmp() of two objects gave `r`. mask: '1' for each byte of a member. `equal` may be NULL;
 * `zero`: its 0 means equal. */
void sundew_watch_bytes(uint32_t slot, const char *a, const char *b, const char *mask, int r,
                        SundewCompare *equal, uint32_t zero);
/* `bits`: of the hash's type; text: 1, keys are strings; 2, 0 means equal. */
void sundew_watch_hash(uint32_t slot, void *hash, void *equal, const void *key, uint64_t h,
                       uint32_t bits, uint32_t text);
void sundew_watch_equal(uint32_t slot, void *hash, const void *a, const void *b, uint32_t equal,
                        uint32_t bits);

/* ---- heap objects */
void sundew_watch_alloc(void *p, uint64_t size);
void sundew_watch_alloc_text(char *p);
void sundew_watch_free(void *p);
/* An object of `size` bytes is copied or cleared at `p`; the real one has another size. */
void sundew_watch_object(uint32_t slot, const void *p, uint64_t size);
/* An object whose first part is copied has exactly the size of the whole type. */
void sundew_watch_sliced(uint32_t slot, const void *p, uint64_t part, uint64_t whole);
void sundew_watch_shared(uint32_t slot, const void *from, const void *to, uint64_t offset);
/* A field keeps the pointer that is freed; the field is loaded, which is the next slot. */
void sundew_watch_stale(uint32_t slot, const void *p);
void sundew_watch_loaded(uint32_t slot, const void *p);
void sundew_watch_revive(const void *p);
/* A pointer is used, or freed once more; was it freed before? */
void sundew_watch_again(uint32_t slot, const void *p);
/* `n` bytes at `at` of the object that begins at `p`. */
void sundew_watch_inside(uint32_t slot, const void *p, const void *at, uint64_t n);
/* A place is passed; the function returns `given`. kept: `n` objects that it may have made, a word,
 * their numbers, and the last number before it began. */
void sundew_watch_passed(uint32_t slot, uint64_t *kept, uint64_t n);
void sundew_watch_lost(uint32_t slot, const uint64_t *kept, uint64_t n, void *frame,
                       uint64_t given);
/* Objects get numbers, one after the other: the last one; that of an object, 0: not known, or freed. */
uint64_t sundew_watch_births(void);
uint64_t sundew_watch_born(const void *p);
/* The function returns and has not freed `p`. */
void sundew_watch_left(uint32_t slot, const void *p, uint64_t born);

/* Unless it is `done`, which is the function's: `p` is used as, or (`back` > 0) as a member at that offset of, an object of `need` bytes. */
void sundew_watch_cast(uint32_t slot, const void *p, uint64_t need, uint64_t back, char *done);

/* ---- variables: a byte of the shadow for each of their bytes */
void sundew_watch_mark(unsigned char *shadow, uint64_t size, uint64_t offset, uint64_t n,
                       uint32_t how);
void sundew_watch_unset(uint32_t slot, const unsigned char *shadow, uint64_t size, uint64_t offset,
                        uint64_t n);

/* ---- injection */
void *sundew_watch_inject_null(uint32_t slot, void *result);
/* Fewer bytes to transfer; none where the call is to fail. */
int64_t sundew_watch_inject_short(uint32_t slot, int64_t want);
/* What the call returns; -1 and errno where it is to fail. */
int64_t sundew_watch_inject_failure(uint32_t slot, int64_t result);
#endif
