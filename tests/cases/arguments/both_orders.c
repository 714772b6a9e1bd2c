/*
 * name:   a test that tries both orders on purpose is no likely bug
 * run:    sundew arguments $file
 * expect: $file:24:5: arguments: update: arguments 1 and 2 are exchanged
 * absent: look swapped
 * status: 0
 */
struct json;
int update(struct json *object, struct json *other);

int merge(struct json *object, struct json *other)
{
    return update(object, other);
}

int merge_twice(struct json *object, struct json *other)
{
    return update(object, other) + update(object, other);
}

void test_both(struct json *object, struct json *other)
{
    update(object, other);
    update(other, object);
}
