/*
 * name:   a rare constant of the same family
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    take("c", MODE_KEEP); take("d", m); take("e", 0);
}
