/*
 * locations - from a source line to its instructions, and back.
 *
 * The index is one array of all instructions that have a line, sorted by file,
 * line and their order in the module, so that a line is a stretch of it.
 */
#include "base/file.h"
#include "program/program_int.h"
#include <assert.h>

typedef struct Place {
    unsigned file;            /* index into `files` */
    unsigned line, column;
    LLVMValueRef instruction;
    size_t order;
} Place;

struct LocationIndex {
    Map paths;                /* {directory, name} as pointers -> path */
    Map numbers;              /* path -> index + 1 into files */
    Vec(const char *) files;  /* keys of `numbers` */
    Vec(Place) places;
    Map answers;              /* "file:line:column" -> Values */
    bool built;
};

static struct LocationIndex *index_of(const Program *program)
{
    Program *p = (Program *)program;
    if (!p->locations)
        p->locations = xcalloc(1, sizeof *p->locations);
    return p->locations;
}

/* LLVM keeps a text once, so two pointers name a file. */
static const char *path_of(const Program *p, LLVMValueRef instruction)
{
    struct LocationIndex *x = index_of(p);
    unsigned ndir = 0, nname = 0;
    const char *dir = LLVMGetDebugLocDirectory(instruction, &ndir);
    const char *name = LLVMGetDebugLocFilename(instruction, &nname);
    const void *key[2] = { dir, name };
    if (!name || !nname)
        return "";
    const char *known = map_getn(&x->paths, key, sizeof key);
    if (known)
        return known;
    char *d = xstrndup(dir ? dir : "", ndir), *n = xstrndup(name, nname);
    char *path = *d ? path_in(d, n) : xstrdup(n);
    known = arena_strdup((Arena *)&p->arena, path);
    map_putn(&x->paths, key, sizeof key, (void *)known);
    free(path);
    free(d);
    free(n);
    return known;
}

SourcePlace program_place(const Program *p, LLVMValueRef instruction)
{
    if (!instruction || !LLVMIsAInstruction(instruction))
        return (SourcePlace){ .file = "" };
    SourcePlace l = { .file = path_of(p, instruction) };
    if (*l.file) {
        l.line = LLVMGetDebugLocLine(instruction);
        l.column = LLVMGetDebugLocColumn(instruction);
    }
    return l;
}

static void add_place(const Program *p, struct LocationIndex *x, LLVMValueRef i)
{
    SourcePlace l = program_place(p, i);
    if (!*l.file || !l.line)
        return;
    void **slot = map_slot(&x->numbers, l.file);
    if (!*slot) {
        vec_push(&x->files, l.file);
        *slot = (void *)x->files.len;
    }
    Place *at = vec_grow(&x->places);
    at->file = (unsigned)((size_t)*slot - 1);
    at->line = l.line;
    at->column = l.column;
    at->instruction = i;
    at->order = x->places.len;
}

static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void build(const Program *p, struct LocationIndex *x)
{
    LLVMModuleRef m = program_module(p);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                add_place(p, x, i);
    if (x->places.len)
        qsort(x->places.items, x->places.len, sizeof *x->places.items, by_place);
    x->built = true;
    assert(x->files.len == x->numbers.len);
}

/* The first place of a line in a file, or where it would be. */
static size_t first_at(const struct LocationIndex *x, unsigned file, unsigned line)
{
    size_t low = 0, high = x->places.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const Place *at = &x->places.items[mid];
        if (at->file < file || (at->file == file && at->line < line))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool path_ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    if (m == 0 || m > n || strcmp(path + n - m, end) != 0)
        return false;
    return m == n || *end == '/' || path[n - m - 1] == '/';
}

const LLVMValueRef *program_instructions_at(const Program *p, const char *file, unsigned line,
                                            unsigned column, size_t *n)
{
    struct LocationIndex *x = index_of(p);
    if (!x->built)
        build(p, x);
    char *key = xprintf("%s:%u:%u", file, line, column);
    Values **slot = (Values **)map_slot(&x->answers, key);
    free(key);
    if (!*slot) {
        Values *found = *slot = xcalloc(1, sizeof *found);
        for (unsigned f = 0; f < x->files.len; f++) {
            if (!path_ends_with(x->files.items[f], file))
                continue;
            for (size_t i = first_at(x, f, line); i < x->places.len; i++) {
                const Place *at = &x->places.items[i];
                if (at->file != f || at->line != line)
                    break;
                if (column == 0 || at->column == column)
                    vec_push(found, at->instruction);
            }
        }
    }
    *n = (*slot)->len;
    return (*slot)->items;
}

void locations_free(struct LocationIndex *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->answers.len; i++) {
        Values *v = x->answers.entries[i].value;
        vec_release(v);
        free(v);
    }
    map_release(&x->paths);
    map_release(&x->numbers);
    map_release(&x->answers);
    vec_release(&x->files);
    vec_release(&x->places);
    free(x);
}
