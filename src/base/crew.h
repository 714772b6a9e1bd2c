/*
 * crew - processes that share work.
 *
 *     CrewPlan plan = { .n = 4, .begin = begin, .work = work, .end = end, .arg = &lab };
 *     Crew *c = crew_new(&plan, err);
 *     Str answers[9] = {0};
 *     if (!crew_do(c, requests, 9, answers, err)) …      all nine, whoever is free next
 *     crew_tell(c, news, err);                           each of them hears it
 *     crew_free(c);
 *
 * Each member is a copy of this process from the moment when the crew was made, and
 * runs nothing but the three functions of the plan. What it learns stays with it, so
 * a member that is to know what others found out has to be told. Members that open
 * something of their own do so in `begin` and give it back in `end`.
 *
 * Requests, answers and news are bytes. A member dies with its maker.
 */
#ifndef SUNDEW_CREW_H
#define SUNDEW_CREW_H
#include "base/err.h"
#include "base/str.h"

typedef struct Crew Crew;

typedef struct CrewPlan {
    unsigned n;                          /* members; at least one */
    bool (*begin)(void *arg, Err *err);  /* NULL: nothing to do */
    /* One piece of work. False: the crew is of no use any more. */
    bool (*work)(void *arg, const Str *request, Str *answer, Err *err);
    bool (*hear)(void *arg, const Str *news, Err *err);          /* NULL: no news */
    void (*end)(void *arg);              /* NULL: nothing to do */
    void *arg;
} CrewPlan;

Crew *crew_new(const CrewPlan *plan, Err *err);
/* The answer to each request, in their order. */
bool crew_do(Crew *c, const Str *requests, size_t n, Str *answers, Err *err);
bool crew_tell(Crew *c, const Str *news, Err *err);
void crew_free(Crew *c);                 /* waits for their end; NULL is fine */
#endif
