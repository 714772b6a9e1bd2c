/* A modest use of jansson: parse, look, change, print. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    json_error_t error;
    json_t *root = json_loads("{\"name\": \"sundew\", \"parts\": [1, 2.5, true, null]}", 0, &error);
    if (!root)
        return 1;
    json_t *parts = json_object_get(root, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        json_t *v = json_array_get(parts, i);
        printf("%d %lld\n", json_typeof(v), (long long)json_integer_value(v));
    }
    json_object_set_new(root, "count", json_integer(3));
    json_array_append_new(parts, json_string("end"));
    json_array_insert_new(parts, 1, json_real(0.5));
    json_array_remove(parts, 0);
    json_t *copy = json_deep_copy(root);
    printf("%d %s\n", json_equal(root, copy), json_string_value(json_object_get(copy, "name")));
    json_object_update(copy, root);
    char *text = json_dumps(copy, JSON_INDENT(2) | JSON_SORT_KEYS);
    puts(text);
    free(text);
    void *it = json_object_iter(copy);
    while (it) {
        puts(json_object_iter_key(it));
        it = json_object_iter_next(copy, it);
    }
    json_decref(copy);
    json_decref(root);
    return 0;
}
