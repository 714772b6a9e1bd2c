/*
 * name:   a false alarm we know of: a name that is another parameter's
 * run:    sundew arguments --json $file
 * expect: "counting": 1,
 * expect: "rule": "arguments/naming"
 * expect: "callee": "find_type"
 * expect: "confidence": 0.5
 * absent: find_member
 * status: 0
 */
struct scope;
struct scope *find_type(struct scope *s, const char *firstName, const char *name);
struct scope *find_member(struct scope *s, const char *firstName, const char *name);

struct scope *find(struct scope *s, const char *firstName, const char *name,
                   const char *outerFullName)
{
    if (find_type(s, name, outerFullName))
        return s;
    return find_member(s, firstName, name);
}
