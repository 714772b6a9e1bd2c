#include "dataflow/datum_json.h"
#include <math.h>
#include <stdio.h>

static json_t *tuple_json(const Tuple *t, const Type *type)
{
    json_t *o = type ? json_object() : json_array();
    const Schema *inner = type ? type->inner : NULL;
    for (size_t i = 0; i < t->n; i++) {
        bool known = inner && i < inner->n;
        Type field = known ? inner->fields[i].type : dtype_of(DATUM_BYTES);
        json_t *v = datum_json(&t->fields[i], type ? &field : NULL);
        char name[32];
        snprintf(name, sizeof name, "f%zu", i);
        if (type)
            json_object_set_new(o, known && inner->fields[i].name ? inner->fields[i].name : name, v);
        else
            json_array_append_new(o, v);
    }
    return o;
}

static json_t *bag_json(const Bag *b, const Type *type)
{
    json_t *o = json_array();
    Type row = type ? dtype_tuple(type->inner) : dtype_of(DATUM_TUPLE);
    for (size_t i = 0; i < b->n; i++) {
        Datum d = datum_tuple(b->items[i]);
        json_array_append_new(o, datum_json(&d, type ? &row : NULL));
    }
    return o;
}

static json_t *map_json(const DatumMap *m, const Type *type)
{
    json_t *o = json_object();
    Type value = dtype_of(DATUM_BYTES);
    for (size_t i = 0; i < m->n; i++)
        json_object_set_new(o, m->keys[i].u.s, datum_json(&m->values[i], type ? &value : NULL));
    return o;
}

static json_t *text_json(const Datum *v)
{
    Str s = { 0 };
    datum_print(&s, v, false);
    json_t *o = json_textn(str_c(&s), s.len);
    str_release(&s);
    return o;
}

json_t *datum_json(const Datum *v, const Type *type)
{
    switch ((DatumKind)v->kind) {
    case DATUM_NULL: return json_null();
    case DATUM_BOOL: return json_boolean(v->u.b);
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT: return json_integer(v->u.i);
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: return isfinite(v->u.d) ? json_real(v->u.d) : text_json(v);
    case DATUM_TUPLE: return tuple_json(v->u.tuple, type);
    case DATUM_BAG: return bag_json(v->u.bag, type);
    case DATUM_MAP: return map_json(v->u.map, type);
    default: return text_json(v);
    }
}
