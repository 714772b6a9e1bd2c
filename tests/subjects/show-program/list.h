struct list { struct list *next; int value; unsigned flags : 3; };
struct list *list_new(int value);
void list_free(struct list *l);
int list_sum(const struct list *l);
int list_each(struct list *l, int (*visit)(int));
