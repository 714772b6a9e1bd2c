/*
 * pt_answer - the answer of the points-to analysis, once solved: plain arrays
 * that are asked, written to a file and read back. For the files of the
 * points-to analysis only.
 *
 * Values are known by their numbers (PtValues), so an answer fits any reading
 * of the same bitcode. Equal sets are kept once.
 */
#ifndef SUNDEW_PT_ANSWER_H
#define SUNDEW_PT_ANSWER_H
#include "analysis/pointsto/pt_int.h"

typedef struct PtRange {
    uint32_t start, n;
} PtRange;

typedef struct PtAnswerObject {
    uint32_t kind, site;      /* site: number of the value; NONE */
    int64_t size;
    bool flat, pooled;
    PtRange locs, regions;
} PtAnswerObject;

/* The functions that a call reaches, or hands to an external function. */
typedef struct PtAnswerCall {
    uint32_t inst;            /* number */
    PtRange targets, callbacks;
} PtAnswerCall;

struct PointsTo {
    PtValues v;
    PtStats stats;
    bool open_world;          /* as the plan said, or there is no main() */
    Strings notes;
    Vec(PtAnswerObject) objects;
    Vec(PtRegion) regions;
    Vec(PtLoc) locs;          /* sorted by object, then offset; ANY first */
    Vec(uint32_t) content;    /* set of each location's cell */
    Vec(uint32_t) slot_set;   /* set of each slot */
    Vec(PtRange) sets;        /* ranges of `members`; set 0 is empty */
    Vec(uint32_t) members;
    Vec(PtAnswerCall) calls;  /* by inst */
    Vec(uint32_t) functions;  /* numbers: what calls' ranges name */
    Vec(uint32_t) outside;    /* functions called from outside, sorted */
    Vec(uint32_t) wrappers;   /* functions, sorted */
    Vec(uint32_t) hands_on;   /* calls, sorted */

    /* made when it is opened */
    PtObject *shown;          /* objects as clients see them */
    uint32_t heap;            /* what pooled heap objects became; NONE */
    uint32_t literals;        /* the object of all string literals */
    uint32_t *self;           /* self[i] == i: sets of one location */
    LLVMValueRef *callees;    /* `functions` as values */
    PtTable call_at;          /* inst -> index in calls */
    PtTable object_at;        /* site -> object, of globals and functions */
};

/* A walk over all objects that can be reached. Equal sets are kept once, and gone
 * through once, which is what keeps it short:
 *
 *     PtReach r = { 0 };
 *     ptreach_add(&r, object);
 *     for (uint32_t o; ptreach_next(pt, &r, &o);) …
 *     ptreach_release(&r);
 *
 * What is in `seen` beforehand is not gone into. */
typedef struct PtReach {
    PtBits seen, sets;
    Vec(uint32_t) work;
} PtReach;
void ptreach_add(PtReach *r, uint32_t object);
bool ptreach_next(const PointsTo *pt, PtReach *r, uint32_t *object);
void ptreach_release(PtReach *r);

void ptanswer_from(PointsTo *a, Pt *pt);
void ptanswer_open(PointsTo *a);       /* fills the last part */
void ptanswer_check(const PointsTo *a);      /* asserts all but the last part */
bool ptanswer_write(const PointsTo *a, const char *path, const char *key, Err *err);
/* False: there is none, or it is of something else, or broken. */
bool ptanswer_read(PointsTo *a, const char *path, const char *key);
#endif
