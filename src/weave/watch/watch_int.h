/* What the rules share: sites, facts about functions, and probes. */
#ifndef SUNDEW_WATCH_INT_WEAVE_H
#define SUNDEW_WATCH_INT_WEAVE_H
#include "weave/watch/watch.h"
#include "weave/weave_int.h"

struct Watch {
    Woven *w;
    Arena arena;
    Vec(WatchSite *) sites;
    Map ordinals;              /* key without number → how many */
    Map bodies;                /* function → hash of its code */
    Map null_facts, pure_facts, bool_facts, unset_facts, memory_facts;
    Map exports;               /* of a library; made at the first question */
    Map casts;                 /* pointer and type that a site stands for */
    Map sources;               /* path → its text */
    Map uses;                  /* place → WatchUses; made at the first question */
    Map refusing;              /* parameter → WatchValues */
    const WatchRule *rule;     /* that looks */
    unsigned nslots;
    bool inject;
    bool races;                /* look for races, too */
    const WatchLines *lines;   /* that are asked about; NULL: none */
};

/* ---- for matchers */
/* A new site of the rule that looks. `group` and `subject` are copied. */
WatchSite *watch_add(Watch *watch, LLVMValueRef at, WatchRole role, const char *group,
                     const char *subject);
/* One more place where a warning about it may stand. */
void watch_place(WatchSite *site, LLVMValueRef at);
/* The function that a call names; NULL: none, or `i` is no call. */
const char *watch_callee(LLVMValueRef i);
LLVMValueRef watch_callee_value(LLVMValueRef i);
/* The same if the program does not define it: a function of a library. */
const char *watch_library(LLVMValueRef i);
bool watch_is_named(LLVMValueRef i, const char *const *names);     /* to NULL */
LLVMValueRef watch_function_of(LLVMValueRef i);
const char *watch_name(LLVMValueRef v);
/* The source line of an instruction, as text; "": not known. Lives as long as the watch. */
const char *watch_line(Watch *watch, LLVMValueRef i);
const char *watch_line_at(Watch *watch, LLVMValueRef i, unsigned line);     /* … of its file */
/* A constant number; false: it is none. */
bool watch_constant(LLVMValueRef v, int64_t *out);
/* Is the value only compared with constants from -1 to 0, or not used at all? */
bool watch_is_ignored(LLVMValueRef v);
/* Does the function compare the pointer with NULL? */
bool watch_is_tested(LLVMValueRef p);
/* Below GEPs and casts. */
LLVMValueRef watch_base(LLVMValueRef p);
/* The struct and field that an address lies in: "struct item+16"; NULL: in none. */
const char *watch_field(Watch *watch, LLVMValueRef p);
/* Only constants, or what a catalogue of messages has for them. */
bool watch_is_constant_text(LLVMValueRef v, unsigned depth);
/* The bytes of a text constant; NULL: it is none. */
const char *watch_constant_text(LLVMValueRef v, size_t *n);
/* The struct that an argument points to; NULL: none. */
const Type *watch_record_of(Watch *watch, LLVMValueRef fn, LLVMValueRef argument);
/* Can `to` run after `i` in the same call, on a way that does not enter the block `without`? */
bool watch_is_behind(LLVMValueRef i, LLVMValueRef to, LLVMBasicBlockRef without);
/* The result of a call, and later loads of the place that it is stored to, in the same function. */
typedef Vec(LLVMValueRef) WatchValues;
void watch_names_of(LLVMValueRef call, WatchValues *out);
/* The same place, as far as the code tells: equal values, or loads of equal addresses. */
bool watch_same(LLVMValueRef a, LLVMValueRef b, unsigned depth);

/* Loads and stores of a place, and whether its address goes anywhere else: then somebody may
 * set it unseen. A place is a field as watch_field() names it, or a global variable; with
 * `shared` a location that threads may share, as watch_shared_place() names it. */
typedef struct WatchUses {
    Vec(LLVMValueRef) all;
    bool lent;
} WatchUses;
const WatchUses *watch_uses(Watch *watch, const char *place, bool shared);
const char *watch_place_of(Watch *watch, LLVMValueRef address);
const char *watch_shared_place(Watch *watch, LLVMValueRef address); /* NULL: a local one */

/* ---- facts about functions (facts.c) */
bool watch_may_return_null(Watch *watch, LLVMValueRef fn);
/* Returns -1 or another negative constant on some path. */
bool watch_may_return_negative(Watch *watch, LLVMValueRef fn);
/* Writes nothing but its own variables, and calls only such functions. */
bool watch_is_pure(Watch *watch, LLVMValueRef fn);
/* 0 or 1: a comparison, !, a predicate. */
bool watch_is_boolean(Watch *watch, LLVMValueRef v, unsigned depth);
/* A program with main(), no library. */
bool watch_is_whole(Watch *watch);
/* Which parameter it is. */
unsigned watch_position(LLVMValueRef fn, LLVMValueRef parameter);
/* Do all calls of the function stand in the program? Its address is not taken, and it is static, or the
 * program is no library. */
bool watch_knows_callers(Watch *watch, LLVMValueRef fn);
/* Does each caller pass a constant for the parameter? */
bool watch_is_fixed(Watch *watch, LLVMValueRef parameter, unsigned depth);
/* Where the arguments of a call come from: "parameter,field struct item+16". */
const char *watch_origins(Watch *watch, LLVMValueRef call);
/* Does its code, or that of functions it calls, call one of these? */
bool watch_calls(LLVMValueRef fn, const char *const *names, unsigned depth);

/* ---- what a value was elsewhere (classes.c) */
/* The only value that the arithmetic depends on, besides constants; NULL: none, or several. */
LLVMValueRef watch_leaf(LLVMValueRef v);
/* The arithmetic depends on a parameter alone: the field whose value all callers pass for it, without a look
 * at it; "": another value. */
const char *watch_values_class(Watch *watch, LLVMValueRef sum);
/* For each value that the site's field has anywhere (s->kind): would `v` then compare so with 0 in the block
 * `at`, and the block be reached? The slot's `bad` counts those. */
void watch_try_elsewhere(Watch *watch, const WatchSite *s, unsigned slot, LLVMValueRef v,
                         LLVMIntPredicate p, LLVMBasicBlockRef at);

/* ---- what runs can't show (outside.c) */
typedef enum {
    OUTSIDE_NOTHING,
    OUTSIDE_FOUND, /* a file or another thing that may be missing */
    OUTSIDE_MEMORY, /* that may run out */
    OUTSIDE_CALLER, /* of a library: nobody knows what others pass */
} WatchOutside;
/* What decides whether the value that `at` uses is the bad one; NULL is 0. */
WatchOutside watch_outside(Watch *watch, LLVMValueRef v, LLVMValueRef at, int64_t bad);
/* The same; `parameter`: the one that others pass, for OUTSIDE_CALLER. */
WatchOutside watch_outside_of(Watch *watch, LLVMValueRef v, LLVMValueRef at, int64_t bad,
                              LLVMValueRef *parameter);
const char *watch_parameter_name(Watch *watch, LLVMValueRef parameter); /* as in the source; "" */
/* Parameters of the library's other functions that are alike, by name and type, and refused if they are NULL. None
 * if fewer of these functions ask for NULL than do not. To be asked before the weave. */
const WatchValues *watch_refusing(Watch *watch, LLVMValueRef parameter);
/* Does the function fail, with NULL or a negative number, if there is no memory? */
bool watch_fails_of_memory(Watch *watch, LLVMValueRef fn);
/* Does each way to `at` lead through a test that the bad value does not pass? */
bool watch_is_guarded(LLVMValueRef v, LLVMValueRef at, int64_t bad);
/* The test that would tell; NULL for OUTSIDE_NOTHING. */
const char *watch_missing_outside(WatchOutside o);
/* The rest of a join: it is open if something outside decides, and this test is missing, or `missing`. */
void watch_leave_open(WatchOutside o, WatchJudgement *out, const char *missing);

/* ---- for probes */
/* Before the note that an object is freed, too. */
void watch_go_before(Watch *watch, LLVMValueRef i);
void watch_go_after(Watch *watch, LLVMValueRef i);
/* After the note that an object was made, too. */
void watch_go_behind_note(Watch *watch, LLVMValueRef i);
LLVMValueRef watch_slot_value(Watch *watch, const WatchSite *site, unsigned k);
LLVMValueRef watch_i64(Watch *watch, LLVMValueRef v, bool is_signed);
/* `user` gets another value in the place of `old`. */
void watch_replace(LLVMValueRef user, LLVMValueRef old, LLVMValueRef new);
/* A call of the runtime's function; types follow the values. */
LLVMValueRef watch_call(Watch *watch, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                        unsigned n);

/* The same; it may be inlined. */
LLVMValueRef watch_call_in(Watch *watch, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           unsigned n);

/* Counts in its first slot how often the place of a site was reached. */
void watch_probe_hit(Watch *watch, WatchSite *site);

/* ---- for joins */
/* The n-th other site of the same group; NULL: no more. */
const WatchSite *watch_other(const WatchEvidence *all, const WatchSite *site, size_t *at);
const struct sundew_watch_slot *watch_slot(const WatchEvidence *all, const WatchSite *site,
                                           unsigned k);
void watch_say(WatchJudgement *j, WatchGrade grade, const WatchSite *where,
               const struct sundew_watch_slot *seen, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#endif
