/* Who loads and stores a field or a variable: an index of the whole program. */
#include "weave/watch/watch_int.h"
#include <assert.h>

/* The address of a struct is that of its first member. */
static const char *first_member(Watch *watch, LLVMValueRef variable)
{
    LLVMTypeRef t = LLVMGlobalGetValueType(variable);
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || !LLVMGetStructName(t) ||
        !LLVMCountStructElementTypes(t) ||
        LLVMGetTypeKind(LLVMStructGetTypeAtIndex(t, 0)) != LLVMPointerTypeKind)
        return NULL;
    return arena_printf(&watch->arena, "%s.0", LLVMGetStructName(t));
}

const char *watch_place_of(Watch *watch, LLVMValueRef address)
{
    if (!LLVMIsAGlobalVariable(address))
        return watch_field(watch, address);
    const char *member = first_member(watch, address);
    return member ? member : watch_name(address);
}

const char *watch_shared_place(Watch *watch, LLVMValueRef address)
{
    LLVMValueRef base = watch_base(address);
    if (LLVMIsAAllocaInst(base))
        return NULL;
    const char *field = watch_field(watch, address);
    if (!LLVMIsAGlobalVariable(base))
        return field;
    if (LLVMIsThreadLocal(base) || LLVMIsGlobalConstant(base))
        return NULL;
    return field ? arena_printf(&watch->arena, "%s of %s", field, watch_name(base))
                 : watch_name(base);
}

static WatchUses *uses_of(Watch *watch, char kind, const char *place)
{
    char *key = xprintf("%c%s", kind, place);
    void **slot = map_slot(&watch->uses, key);
    if (!*slot)
        *slot = xcalloc(1, sizeof(WatchUses));
    free(key);
    return *slot;
}

static bool is_lent(LLVMValueRef address)
{
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (!LLVMIsALoadInst(i) && !(LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == address))
            return true;
    }
    return false;
}

static void add_instruction(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef at = LLVMIsALoadInst(i)    ? LLVMGetOperand(i, 0)
                      : LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1)
                                            : NULL;
    const char *place = at ? watch_place_of(watch, at) : NULL;
    if (place)
        vec_push(&uses_of(watch, 'f', place)->all, i);
    place = at && watch->races ? watch_shared_place(watch, at) : NULL;
    if (place)
        vec_push(&uses_of(watch, 's', place)->all, i);
    if (LLVMIsAGetElementPtrInst(i) && is_lent(i) && (place = watch_field(watch, i)))
        uses_of(watch, 'f', place)->lent = true;
}

/* Does a function of a library get the address? asprintf(&box.text, …) sets a first member. */
static bool is_lent_outside(LLVMValueRef variable)
{
    for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u))
        if (LLVMIsACallInst(LLVMGetUser(u)) && !watch_callee_value(LLVMGetUser(u)))
            return true;
        else if (watch_library(LLVMGetUser(u)))
            return true;
    return false;
}

static void make_index(Watch *watch)
{
    LLVMModuleRef m = watch->w->module;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                add_instruction(watch, i);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        if (first_member(watch, g) ? is_lent_outside(g) : is_lent(g))
            uses_of(watch, 'f', watch_place_of(watch, g))->lent = true;
    uses_of(watch, ' ', "");         /* so that there is something, and it is made once */
}

const WatchUses *watch_uses(Watch *watch, const char *place, bool shared)
{
    assert(place && (watch->races || !shared));
    if (!watch->uses.len)
        make_index(watch);
    return uses_of(watch, shared ? 's' : 'f', place);
}
