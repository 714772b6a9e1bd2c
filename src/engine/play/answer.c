/* Reading what the player answers: see answer.h. */
#include "engine/play/answer.h"
#include "base/vec.h"
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

typedef Vec(Observation) Observations;

static void read_observation(const uint8_t *bytes, Observation *o)
{
    switch (o->kind) {
    case OBSERVED_INTEGER: memcpy(&o->integer, bytes, o->n < 8 ? o->n : 8); break;
    case OBSERVED_FLOAT: memcpy(&o->real, bytes, o->n < 8 ? o->n : 8); break;
    case OBSERVED_ERRNO_IS:
    case OBSERVED_CALLBACKS_ARE: memcpy(&o->integer, bytes, o->n < 4 ? o->n : 4); break;
    case OBSERVED_SAME:
        if (o->n == 8) {
            memcpy(&o->same_step, bytes, 4);
            memcpy(&o->same_place, bytes + 4, 4);
        }
        break;
    default: break;
    }
}

/* Of a struct only the scalars are kept: pointers and padding differ from run to
 * run. */
static void mask_record(const Type *t, uint8_t *bytes, size_t n)
{
    uint8_t kept[WIRE_MOST_SEEN_BYTES] = { 0 };
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        const Type *m = type_plain(f->type);
        uint64_t at = f->offset / 8;
        if ((m->kind == TYPE_SCALAR || m->kind == TYPE_ENUM) && !f->bit_field &&
            at + m->size <= n && at + m->size <= sizeof kept)
            memcpy(kept + at, bytes + at, m->size);
    }
    memcpy(bytes, kept, n < sizeof kept ? n : sizeof kept);
}

static void mask(const Seq *s, const Observation *o, uint8_t *bytes)
{
    const ApiFunction *f = o->step < s->n ? s->steps[o->step].f : NULL;
    if (!f || o->kind != OBSERVED_BYTES || o->place < -1 || o->place >= (int)f->nparams ||
        api_place(f, o->place)->role != ROLE_RECORD)
        return;
    const Type *t = type_plain(api_place(f, o->place)->type);
    if (t->kind == TYPE_POINTER)
        t = type_plain(t->target);
    for (size_t at = 0; t->size && at + t->size <= o->n; at += t->size)
        mask_record(t, bytes + at, t->size);
    if (t->size)                 /* of one that is cut short nothing is known */
        memset(bytes + o->n / t->size * t->size, 0, o->n % t->size);
}

/* How much less is chance; that it is less is what a comparison says. */
static void keep_sign(const Seq *s, Observation *o)
{
    const ApiFunction *f = s->steps[o->step].f;
    if (f && o->place == API_RETURNED && o->kind == OBSERVED_INTEGER)
        o->integer = (uint64_t)api_meaning(f, o->integer);
}

/* The scalar fields of a struct that a call has changed, one by one. */
static void read_fields(const Seq *s, uint32_t step, int place, const uint8_t *bytes, size_t n,
                        Observations *out)
{
    const ApiFunction *f = step < s->n ? s->steps[step].f : NULL;
    const ApiType *h = f && place >= 0 && place < (int)f->nparams ? f->params[place].handle : NULL;
    const Type *t = h ? type_plain(h->type) : NULL;
    for (unsigned i = 0; t && t->kind == TYPE_STRUCT && i < t->nfields && i < OBSERVED_FIELDS;
         i++) {
        const Field *x = &t->fields[i];
        const Type *m = type_plain(x->type);
        uint64_t at = x->offset / 8;
        Observation o = { .step = step, .place = observed_field(place, i) };
        if ((m->kind != TYPE_SCALAR && m->kind != TYPE_ENUM) || x->bit_field || !*x->name ||
            m->size > 8 || at + m->size > n / 2 ||
            memcmp(bytes + at, bytes + n / 2 + at, m->size) == 0)
            continue;
        memcpy(&o.integer, bytes + n / 2 + at, m->size);
        vec_push(out, o);
    }
}

/* The fields of struct WireAnswer before `fresh`. */
typedef struct AnswerHead {
    uint32_t state;
    int32_t status;
    uint32_t at, nnew;
    int64_t leaked;
    uint32_t nobs, cut;
} AnswerHead;
_Static_assert(sizeof(AnswerHead) == offsetof(struct WireAnswer, fresh), "the same fields");

const Type *observed_struct(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
    bool own = (p->role == ROLE_HANDLE || p->role == ROLE_STORAGE) && p->handle->open;
    bool record = (own || p->role == ROLE_RECORD) && !p->is_const && t;
    return record && t->kind == TYPE_STRUCT && !t->incomplete ? t : NULL;
}

/* A text that a struct of the caller's, or one of several pointers to texts, leads to. */
static bool is_text_place(const SeqStep *st, int place)
{
    unsigned at = (unsigned)(place - OBSERVED_FIELD), i = at / OBSERVED_FIELDS;
    if (place < OBSERVED_FIELD || place >= OBSERVED_BEHIND || !st->f || i >= st->nargs)
        return false;
    const Type *t = observed_struct(&st->f->params[i]);
    unsigned number = observed_number(&st->f->params[i], at % OBSERVED_FIELDS);
    return t ? number < t->nfields : st->f->params[i].role == ROLE_STRING_OUT;
}

/* Of a result, a parameter, errno, callbacks, or the bytes that a step set a field to. */
static bool is_place(const Seq *s, unsigned step, int place)
{
    if (place >= OBSERVED_BEHIND) {
        unsigned set = (unsigned)(place - OBSERVED_BEHIND);
        return set < s->n && s->steps[set].field;
    }
    return is_text_place(&s->steps[step], place) || place == API_RETURNED ||
           (place <= OBSERVED_ERRNO && place >= OBSERVED_FILES) ||
           (place >= 0 && place < OBSERVED_FIELD && (unsigned)place < s->steps[step].nargs);
}

/* Where in what the parameter leads to does the text of an observation hang? */
static uint64_t text_offset(const SeqStep *st, int place, unsigned *param)
{
    if (place < OBSERVED_FIELD) {
        *param = (unsigned)place;
        return 0;
    }
    unsigned at = (unsigned)(place - OBSERVED_FIELD);
    *param = at / OBSERVED_FIELDS;
    const ApiPlace *p = &st->f->params[*param];
    const Type *t = observed_struct(p);
    unsigned number = at % OBSERVED_FIELDS;
    return t ? observed_element(p, number) * t->size +
                   t->fields[observed_number(p, number)].offset / 8
             : number * sizeof(void *);
}

/* A text that the caller gave, and that the call has left where it was. */
static bool is_given_text(const SeqStep *st, const Observation *o)
{
    unsigned i;
    if (o->kind != OBSERVED_STRING || o->place < 0 || o->place >= OBSERVED_BEHIND || !st->f)
        return false;
    uint64_t at = text_offset(st, o->place, &i);
    const SeqValue *v = &st->args[i];
    for (size_t k = 0; k < v->nlinks; k++) {
        const SeqValue *text = &v->links[k].value;
        if (v->links[k].offset == at && text->kind == VALUE_STRING && text->n == o->n &&
            memcmp(text->bytes, o->bytes, o->n) == 0)
            return true;
    }
    return false;
}

/* The library may have written anything there. `head` is a copy of the answer's begin. */
static void read_observations(Arena *a, const Seq *s, const AnswerHead *head,
                              const struct WireAnswer *w, Outcome *out)
{
    struct {
        uint32_t step;
        int32_t place;
        uint32_t kind, n;
    } row;
    uint32_t end = head->nobs < WIRE_OBSERVATIONS ? head->nobs : WIRE_OBSERVATIONS, at = 0;
    uint8_t *copy = arena_array(a, uint8_t, end + 1);
    Observations all = { 0 };
    memcpy(copy, w->obs, end);
    while (at + sizeof row <= end) {
        memcpy(&row, copy + at, sizeof row);
        at += (uint32_t)sizeof row;
        if (row.n > end - at || row.kind > OBS_FIELDS)
            break;
        if (row.step >= s->n || !is_place(s, row.step, row.place)) {
            /* nothing of ours */
        } else if (row.kind == OBS_FIELDS) {
            read_fields(s, row.step, row.place, copy + at, row.n, &all);
        } else {
            Observation o = { .step = row.step,
                              .place = row.place,
                              .kind = (ObservedKind)row.kind,
                              .bytes = copy + at,
                              .n = row.n };
            mask(s, &o, copy + at);
            read_observation(copy + at, &o);
            keep_sign(s, &o);
            if (!is_given_text(&s->steps[row.step], &o))
                vec_push(&all, o);
        }
        at += (row.n + 3u) & ~3u;
    }
    Observation *kept = arena_array(a, Observation, all.len + 1);
    if (all.len)
        memcpy(kept, all.items, all.len * sizeof *kept);
    out->obs = kept;
    out->nobs = all.len;
    vec_release(&all);
    out->cut = head->cut;
}

/* Points that exist; `most` of them do. */
static void read_fresh(Arena *a, const AnswerHead *head, const struct WireAnswer *w, uint32_t most,
                       Outcome *out)
{
    uint32_t n = head->nnew < WIRE_MOST_NEW ? head->nnew : WIRE_MOST_NEW;
    uint32_t *fresh = arena_array(a, uint32_t, n + 1);
    memcpy(fresh, w->fresh, n * sizeof *fresh);
    for (uint32_t i = 0; i < n; i++)
        if (fresh[i] < most)
            fresh[out->nfresh++] = fresh[i];
    out->fresh = fresh;
}

void answer_read(Arena *a, const Seq *s, uint32_t npoints, const struct WireAnswer *w, Outcome *out)
{
    AnswerHead head;
    memcpy(&head, w, sizeof head);
    *out =
        (Outcome){ .state = head.state <= WIRE_EXITED ? (OutcomeState)head.state : OUTCOME_NOT_RUN,
                   .at = head.at < s->n ? head.at : s->n,
                   .leaked = head.leaked };
    if (WIFSIGNALED(head.status))
        out->signal = WTERMSIG(head.status);
    else
        out->status = WEXITSTATUS(head.status);
    read_fresh(a, &head, w, npoints, out);
    read_observations(a, s, &head, w, out);
}
