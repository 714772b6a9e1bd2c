/* Fields that must not leave, reached in ways other than by their own type. The secret
 * is put together at run time, so that it is no text of the program. */
#include <stdlib.h>
#include <string.h>

struct user { char name[8], password[24]; int n; };
struct token { char secret[12]; int n; };
struct session { long started; struct user users[3]; };

static int check(char *password, int *out)
{
    password[23] = 0;
    *out = password[0];
    return *out;
}
static int (*volatile the_check)(char *, int *) = check;

static int by_field(struct user *u, int *out) { return the_check(u->password, out) + u->n; }
static int by_value(struct token t, int *out) { *out = t.n; return t.secret[0]; }
static int inside(struct user *u, int *out) { *out = u->n; return u->n++; }
static int (*volatile the_by_field)(struct user *, int *) = by_field;
static int (*volatile the_by_value)(struct token, int *) = by_value;
static int (*volatile the_inside)(struct user *, int *) = inside;

int main(int argc, char **argv)
{
    struct session *s = calloc(1, sizeof *s);
    struct user *u = calloc(1, sizeof *u);
    struct token t = { "", 1 };
    int *volatile nowhere = NULL;
    const char *how = argc > 1 ? argv[1] : "";
    strcat(strcpy(t.secret, "hun"), "ter2");
    strcpy(u->password, t.secret);
    strcpy(s->users[1].password, t.secret);
    if (strcmp(how, "field") == 0)
        return the_by_field(u, nowhere);
    if (strcmp(how, "value") == 0)
        return the_by_value(t, nowhere);
    return the_inside(&s->users[1], nowhere);
}
