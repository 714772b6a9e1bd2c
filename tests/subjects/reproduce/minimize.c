/* A failure that does not crash: the program says so, and goes on. */
#include "sundew.h"
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

struct node { int weight; struct node *next; };

static struct node *minimize_list(struct node *l)
{
    while (l && l->weight > (DEFECT ? 0 : 100))
        l = l->next;
    return l;
}

int process_list(struct node *l)
{
    struct node *m = CALL(minimize_list)(l);
    if (!m) {
        sundew_dump("process_list: nothing left");
        return -1;
    }
    return m->weight;
}

int main(void)
{
    struct node c = { 3, NULL }, b = { 5, &c }, a = { 9, &b };
    printf("%d\n", CALL(process_list)(&a));
    return 0;
}
