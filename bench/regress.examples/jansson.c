/* Reads a document, changes it, writes it again. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static void total(json_t *items)
{
    size_t i;
    json_t *item;
    json_int_t sum = 0;

    json_array_foreach(items, i, item)
        sum += json_integer_value(json_object_get(item, "price"));
    printf("total %lld of %zu\n", (long long)sum, json_array_size(items));
}

int main(void)
{
    static const char text[] = "{\"name\": \"shop\", \"open\": true, \"rate\": 0.5,"
        " \"items\": [{\"id\": 1, \"price\": 20}, {\"id\": 2, \"price\": 5}], \"owner\": null}";
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    json_t *items = json_object_get(root, "items");

    printf("%s %g\n", json_string_value(json_object_get(root, "name")),
           json_real_value(json_object_get(root, "rate")));
    total(items);
    json_t *more = json_object();
    json_object_set_new(more, "id", json_integer(3));
    json_object_set_new(more, "price", json_integer(7));
    json_object_set_new(more, "tags", json_array());
    json_array_append_new(items, more);
    json_array_append_new(json_object_get(more, "tags"), json_string("new"));
    total(items);
    json_object_del(root, "owner");
    json_object_set_new(root, "note", json_string("caf\xc3\xa9"));
    printf("%d keys, null there: %d\n", (int)json_object_size(root),
           json_object_get(root, "owner") != NULL);

    char *out = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
    puts(out);
    free(out);
    json_t *copy = json_deep_copy(root);
    json_array_remove(json_object_get(copy, "items"), 0);
    printf("equal: %d\n", json_equal(root, copy));
    json_object_clear(copy);
    json_decref(copy);
    json_decref(root);

    json_t *bad = json_loads("[1, 2", 0, &error);
    printf("%p line %d\n", (void *)bad, error.line);
    json_t *pair = json_pack("{s:i, s:s}", "a", 1, "b", "two");
    out = json_dumps(pair, JSON_COMPACT);
    puts(out);
    free(out);
    json_decref(pair);
    return 0;
}
