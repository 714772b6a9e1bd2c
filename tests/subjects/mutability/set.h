struct set { struct set *next; int v; };
int len(struct set *l);
int sum(struct set *l, int *bias);
