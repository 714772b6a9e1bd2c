/*
 * script - what little of JavaScript sends forms: a handler gives fields constants,
 * names an address, and sends. Nothing is run; patterns of text are looked for.
 *
 *     onclick="go(3)"   function go(n) { document.menu.page.value = n;
 *                                        document.menu.submit(); }
 *
 * is a deed: form "menu", page = 3. What else a script does is not seen.
 */
#ifndef SUNDEW_WEB_SCRIPT_H
#define SUNDEW_WEB_SCRIPT_H
#include "base/str.h"
#include "base/vec.h"

typedef struct ScriptFunction {
    char *name, *body;
    Strings params;
} ScriptFunction;

typedef struct Scripts {
    ScriptFunction *items;
    size_t len, cap;
} Scripts;

typedef struct Deed {
    char *form;                /* its name; NULL: not said */
    char *action;              /* the form's new address; NULL: its own */
    Strings fields, values;    /* in pairs */
    Strings addresses;         /* that it goes to or opens */
    size_t left;               /* of the work that reading may be */
} Deed;

/* The functions of a script. */
void scripts_add(Scripts *s, const char *code);
void scripts_release(Scripts *s);

void script_deed(const Scripts *s, const char *code, Deed *out);
void deed_release(Deed *d);
#endif
