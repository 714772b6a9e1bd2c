struct list;
int len(struct list *l);
int main(void) { return len(0); }
