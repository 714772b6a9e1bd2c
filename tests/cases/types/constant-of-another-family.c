/*
 * name:   a constant of another family of macros
 * run:    sundew types --own-only $file
 * expect: $file:35:15: types: take: argument 2 is PERM_OWNER
 * expect: 34 of 35 callers pass MODE_*
 * status: 1
 */
#define MODE_READ 1
#define MODE_WRITE 2
#define MODE_KEEP 4
#define PERM_OWNER 0600
#define PERM_ALL 0666

int take(const char *name, int mode);

void take_all(int m)
{
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("a", MODE_READ); take("b", MODE_WRITE | MODE_KEEP);
    take("c", PERM_OWNER);
}
