/*
 * name:   a value passed where another parameter is called value
 * run:    sundew arguments --json $file
 * expect: "rule": "arguments/naming"
 * expect: "line": 18
 * expect: "confidence": 0.5
 * absent: "line": 19
 * status: 0
 */
struct object;
struct object *coerce(struct object *);
struct object *_pow(struct object *value, struct object *iw);
struct object *_mul(struct object *left, struct object *value);

struct object *pow_of(struct object *left, struct object *value)
{
    struct object *r;
    r = _pow(coerce(left), value);
    return r ? r : _mul(left, value);
}
