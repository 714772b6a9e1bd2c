/* Reads contracts/PROGRAM.json; contract_json.c says how it looks. */
#include "engine/contract/known.h"
#include "base/file.h"
#include "base/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct KnownContracts {
    json_t *file;
};

char *known_path(const char *workspace, const char *program, const char *kind)
{
    char *safe = path_safe_name(program);
    char *path = xprintf("%s/contracts/%s.%s", workspace, safe, kind);
    free(safe);
    return path;
}

KnownContracts *known_contracts(const char *workspace, const char *program)
{
    Err ignored = { 0 };
    char *path = known_path(workspace, program, "json");
    json_t *file = file_exists(path) ? json_read(path, &ignored) : NULL;
    KnownContracts *k = NULL;
    if (file) {
        k = xcalloc(1, sizeof *k);
        k->file = file;
    }
    free(path);
    return k;
}

void known_free(KnownContracts *k)
{
    if (k)
        json_decref(k->file);
    free(k);
}

static const json_t *function_named(const json_t *file, const char *name)
{
    const json_t *list = json_object_get(file, "functions");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_str(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* Is it said of this parameter alone, without a condition, by the function's own calls? */
static bool is_of(const json_t *inv, const char *parameter)
{
    const json_t *vars = json_object_get(inv, "vars");
    const char *of = json_string_value(json_array_get(vars, 0));
    return json_array_size(vars) == 1 && of && strcmp(of, parameter) == 0 &&
           !json_object_get(inv, "when") && strcmp(json_str(inv, "evidence"), "own") == 0;
}

bool known_broken(const KnownContracts *k, const char *function, const char *parameter,
                  const KnownValue *v, Str *out)
{
    const json_t *fn = k ? function_named(k->file, function) : NULL;
    const json_t *pre = fn ? json_object_get(fn, "pre") : NULL;
    for (size_t i = 0; i < json_array_size(pre); i++) {
        const json_t *inv = json_array_get(pre, i);
        const char *kind = json_str(inv, "kind");
        int64_t bound = json_integer_value(json_array_get(json_object_get(inv, "k"), 0));
        int64_t calls = json_int(inv, "samples", 0);
        size_t was = out->len;
        if (!is_of(inv, parameter))
            continue;
        if (strcmp(kind, "nonzero") == 0 && !v->value)
            str_addf(out, "was never %s", v->pointer ? "NULL" : "0");
        else if (strcmp(kind, "lower") == 0 && !v->pointer && v->value < bound)
            str_addf(out, "was at least %" PRId64, bound);
        else if (strcmp(kind, "upper") == 0 && !v->pointer && v->value > bound)
            str_addf(out, "was at most %" PRId64, bound);
        if (out->len == was)
            continue;
        str_addf(out, " in %" PRId64 " recorded calls", calls);
        return true;
    }
    return false;
}
