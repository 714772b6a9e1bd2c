/* Lines that another tool warns about: the comment at the end of a line names the function and the family
 * of the warning. bad_… is confirmed, good_… rejected, open_… neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { char *text; struct item *next; int n; };
static struct item *head;
static int turn;
/* lost on the error path, after the pointer went through a function */
static void touch(struct item *i) { i->n++; }
static int bad_lost(int n)
{
    struct item *i = malloc(sizeof *i);
    if (!i)
        return -1;
    touch(i);
    if (n % 2)
        return -2; /*bad_lost leak*/
    i->next = head;
    head = i;
    return 0;
}
static int good_lost(int n)
{
    struct item *i = malloc(sizeof *i);
    if (!i)
        return -1;
    touch(i);
    i->next = head;
    head = i;
    return n; /*good_lost leak*/
}
/* Lost if the function that gets it fails; if it does not fail, nobody knows. */
static int insert(struct item *i, int fails)
{
    if (fails)
        return -1;
    i->next = head;
    head = i;
    return 0;
}
static int bad_given(int n)
{
    struct item *i = calloc(1, sizeof *i);
    return i ? insert(i, n % 2) : -1; /*bad_given leak*/
}
static int open_given(int n)
{
    struct item *i = calloc(1, sizeof *i);
    return i ? insert(i, n < 0) : -1; /*open_given leak*/
}
static int good_given(int n)
{
    struct item *i = calloc(1, sizeof *i);
    if (i && insert(i, n % 2))
        free(i);
    touch(head);
    return 0; /*good_given leak*/
}
/* The line has no code of its own, and what follows is reached on other ways, too. */
static void open_near(int n)
{
    struct item *i = calloc(1, sizeof *i);
    if (!i)
        return;
    touch(i);
    if (n >= 0)
        insert(i, 0);
    else
        i = NULL; /*open_near leak*/
    touch(head);
}
static struct item *same(struct item *i) { return i; }
static int open_same(struct item *i, int n)
{
    struct item *s = same(i);
    s->n += n;
    return 0; /*open_same leak*/
}
static int bad_stream(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    int c = fgetc(f);
    if (c != 'x')
        return c; /*bad_stream leak*/
    fclose(f);
    return 0;
}
static int good_stream(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    int c = fgetc(f);
    fclose(f); /*good_stream leak*/
    return c;
}
static int bad_unset(int n)
{
    int x;
    if (n > 2)
        x = atoi("3");
    return x + n; /*bad_unset uninitialised*/
}
static int open_unset(int n)
{
    int x;
    if (n >= 0)
        x = atoi("3");
    return x + n; /*open_unset uninitialised*/
}
/* two tests that agree: the way without a value ends before the use */
static int good_unset(int n)
{
    int x;
    if (n % 2)
        x = atoi("3");
    touch(head);
    if (n % 2)
        return x + n; /*good_unset uninitialised*/
    return 0;
}
static int bad_array(int n)
{
    int a[8], sum = 0;
    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 0; i <= n && i < 8; i++)
        sum += a[i]; /*bad_array uninitialised*/
    return sum;
}
static int good_array(int n)
{
    int a[8], sum = 0;
    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 0; i < n; i++)
        sum += a[i]; /*good_array uninitialised*/
    return sum;
}
static int good_walk(int n)
{
    char a[16], *p;
    for (p = a; p < a + n; p++)
        *p = 1;
    return n ? a[n - 1] : 0; /*good_walk uninitialised*/
}
static void fill(int *a) { if (turn > 100) a[0] = 1; }
static int open_array(int n)
{
    int a[8];
    fill(a);
    return n ? a[0] : 1; /*open_array uninitialised*/
}
static int table[4];
static int bad_index(int n)
{
    return table[n % 5]; /*bad_index out-of-bounds*/
}
static int good_index(int n)
{
    return table[n % 4]; /*good_index out-of-bounds*/
}
static int bad_heap_index(int n)
{
    char *p = calloc(4, 1);
    int c = p[n % 5]; /*bad_heap_index out-of-bounds*/
    free(p);
    return c;
}
static int bad_moved(int n)
{
    char *p = calloc(4, 1);
    memmove(p, p + 1, n % 5); /*bad_moved out-of-bounds*/
    int c = p[0];
    free(p);
    return c;
}
static int good_moved(int n)
{
    char *p = calloc(4, 1);
    memmove(p, p + 1, n % 4); /*good_moved out-of-bounds*/
    int c = p[0];
    free(p);
    return c;
}
static int bad_shift(int n)
{
    return 1u << (n * 4); /*bad_shift division*/
}
static int good_division(int n)
{
    return 100 / (n + 1); /*good_division division*/
}
static size_t bad_null(const char *s, size_t n)
{
    memcpy(&n, s, 0 * n);
    s += n; /*bad_null null-pointer*/
    return (size_t)s;
}
static size_t good_null(const char *s)
{
    return strlen(s); /*good_null null-pointer*/
}
static char *never_null(size_t n)
{
    return (sizeof n < sizeof(char *) ? (char *)&turn : (char *)0) + (n & ~7ul); /*never_null null-pointer*/
}
/* That a file was there says nothing about the next one. */
static int open_named(const char *path)
{
    FILE *f = path ? fopen(path, "r") : stdin;
    return fgetc(f); /*open_named null-pointer*/
}
static int good_named(void)
{
    FILE *f = turn >= 0 ? stdin : stderr;
    return ferror(f); /*good_named null-pointer*/
}
static int bad_freed(int n)
{
    char *p = malloc(8);
    strcpy(p, "abc");
    if (n > 5)
        free(p);
    int c = p[0]; /*bad_freed stale-pointer*/
    if (n <= 5)
        free(p);
    return c;
}
static int is_text(const char *p) { return p != NULL; }
static int bad_handed(int n)
{
    char *p = malloc(8);
    strcpy(p, "abc");
    if (n > 5)
        free(p);
    int c = is_text(p); /*bad_handed stale-pointer*/
    if (n <= 5)
        free(p);
    return c;
}
static int good_handed(int n)
{
    char *p = malloc(8);
    strcpy(p, "abc");
    int c = is_text(p); /*good_handed stale-pointer*/
    free(p);
    return c;
}
static int good_freed(int n)
{
    char *p = malloc(8);
    strcpy(p, "abc");
    int c = p[0]; /*good_freed stale-pointer*/
    free(p);
    return c;
}
static int bad_sign(int a, unsigned long b)
{
    return a < b; /*bad_sign sign-compare*/
}
static int good_sign(int a, unsigned b)
{
    return a == b; /*good_sign sign-compare*/
}
static int open_sign(int a, unsigned b)
{
    return a < b; /*open_sign sign-compare*/
}
/* The callers pass what a field holds, and it was smaller elsewhere; a test on the way here, or in the
 * caller, keeps such a value away. */
struct row { int used, length; };
static int bad_row(int length)
{
    return length - 5 < sizeof(int); /*bad_row sign-compare*/
}
static int good_row(int length)
{
    if (length < 5)
        return 0;
    return length - 5 < sizeof(int); /*good_row sign-compare*/
}
static int good_met(int length)
{
    return length - 5 < sizeof(int); /*good_met sign-compare*/
}
static int show_row(const struct row *r) { return bad_row(r->length) + good_row(r->length); }
static int meet_row(const struct row *r) { return r->length >= 5 ? good_met(r->length) : 0; }
static int good_chosen(int length)
{
    return length - 5 < sizeof(int); /*good_chosen sign-compare*/
}
static int choose_row(const struct row *r) { return r->used > 1 ? good_chosen(r->length) : 0; }
static int width(const struct row *r) { return r->used + r->length; }
/* Two that may fail, and one line: the first is tested before, the second is kept as it is. Without
 * memory a use behind a test that decides nothing is a fault, and no run here has none. */
struct pair { struct item *first; char *text; };
static struct item *new_item(void)
{
    struct item *i = calloc(1, sizeof *i);
    return i ? i : NULL;
}
static struct pair *open_kept(void)
{
    struct pair *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->first = new_item(); /*open_kept unchecked*/
    return p;
}
static int good_kept(int n)
{
    struct pair *p = calloc(1, sizeof *p);
    if (!p)
        return -1;
    p->first = NULL; /*good_kept unchecked*/
    free(p);
    return n;
}
static int open_asked(int n)
{
    struct item *p = malloc(sizeof *p);
    if (!p && n < 0)
        return -1;
    p->n = n; /*open_asked unchecked*/
    free(p);
    return n;
}
static int never_used(int n)
{
    int unused; /*never_used */
    return n;
}
int main(void)
{
    int all = 0;
    struct item *own = calloc(1, sizeof *own);
    for (turn = 0; turn < 24; turn++) {
        bad_lost(turn);
        good_lost(turn);
        open_same(own, turn);
        all += open_named("/etc/passwd") + good_named();
        bad_given(turn);
        open_given(turn);
        good_given(turn);
        open_near(turn);
        bad_stream("/etc/passwd");
        good_stream("/etc/passwd");
        all += bad_unset(turn) + open_unset(turn) + good_unset(turn);
        all += bad_array(turn % 8) + good_array(turn % 8) + open_array(turn % 2) + good_walk(turn % 16);
        all += bad_index(turn) + good_index(turn) + bad_heap_index(turn) + bad_moved(turn) + good_moved(turn) + bad_shift(turn) + good_division(turn);
        all += bad_null(turn == 7 ? NULL : "abc", 1) + good_null("abc") + (never_null(turn) != NULL);
        all += bad_freed(turn) + good_freed(turn) + bad_handed(turn) + good_handed(turn);
        struct pair *kept = open_kept();
        all += good_kept(turn) + open_asked(turn) + (kept && kept->first);
        if (kept)
            free(kept->first);
        free(kept);
        struct row longer = { 2, 9 }, shorter = { 1, 2 };
        all += choose_row(&longer) + choose_row(&shorter) + show_row(&longer) + meet_row(&longer) + meet_row(&shorter) + width(&longer) + width(&shorter);
        all += bad_sign(turn - 3, turn) + good_sign(turn, turn) + open_sign(turn - 3, turn);
    }
    free(own);
    return all == 3;
}
