/*
 * loop - what one event is, as bytes; and C that makes one call of a function
 * of such bytes.
 *
 *     EventLayout l = {0};
 *     Str text = {0};
 *     if (!loop_write(fn, &l, &text, err)) …     it takes what can't be made
 *
 * The text is C: sundew_event_step(), which fills the arguments with sundew_ask()
 * (runtime/input/input.h) and calls the function; and sundew_event_state(), which tells of objects
 * that the function's pointers lead to. A number is taken as it is. An enum is
 * one of its values. A struct by value, or behind a pointer to const, is filled field
 * by field; its pointers are NULL. Another pointer is state: it keeps the value that it had
 * when the program called the function first, or leads to a zeroed object.
 */
#ifndef SUNDEW_LOOP_H
#define SUNDEW_LOOP_H
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "program/program.h"

typedef enum {
    FIELD_SIGNED,
    FIELD_UNSIGNED,
    FIELD_FLOAT,
    FIELD_ENUM,                      /* the byte is an index into the type's values */
    FIELD_KEY,                       /* of a terminal: a code of curses */
    FIELD_BYTES,
} FieldKind;

/* A part of an event. */
typedef struct EventField {
    const char *name;
    FieldKind kind;
    uint32_t at, size;
    const Type *type;                /* FIELD_ENUM */
} EventField;

typedef struct EventLayout {
    const char *name;                /* of the event: the function; "key" */
    Vec(EventField) fields;
    uint32_t size;                   /* bytes of an event */
    /* Of servers: kinds (SUNDEW_EVENT_CONNECT …); the first byte chooses one, the second a
     * connection, the rest are the data. 0: no server */
    unsigned kinds[4], nkinds;
    unsigned connections, open;
    Vec(uint16_t) keys;              /* of terminals: only these; none: any */
    bool line;                       /* … an event is a line */
    bool mouse;                      /* … behind a key are x, y and a button */
    bool window;                     /* an event of a window: SUNDEW_WINDOW_… and two numbers */
    unsigned lines[2], columns[2]; /* … its size, and the one after "resize"; 0: 80 x 24, none */
    Arena arena;
} EventLayout;

enum { EVENT_LONGEST = 256 }; /* bytes of an event */

bool loop_write(const Function *fn, EventLayout *layout, Str *out, Err *err);
void layout_add(EventLayout *l, const char *name, FieldKind kind, uint32_t size, const Type *type);
void layout_release(EventLayout *l);
/* The key of a terminal's event. */
uint16_t layout_key(const EventLayout *l, const uint8_t *bytes);
/* The event as a person reads it: "control_step(kind = 3, value = 17)". */
void layout_print(const EventLayout *l, const uint8_t *bytes, Str *out);
#endif
