struct S { int v; char *names[3]; };
typedef int (*reader)(struct S *s, void *arg);
struct ops { int (*get)(struct S *s); int (*take)(struct S *s); };
int total(char **list, int n);
