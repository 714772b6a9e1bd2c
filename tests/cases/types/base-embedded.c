/*
 * name:   structs that begin with the base, at any depth
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
struct node { int kind; };
struct leaf { struct node node; int value; };
struct branch { struct node node; struct node *left, *right; };
struct twig { struct branch branch; };
struct color { int red, green, blue; };

void visit(struct node *n);

void visit_all(struct leaf *l, struct branch *b, struct twig *t,
               struct color *c)
{
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)l); visit((struct node *)b);
    visit((struct node *)t); visit(&l->node); visit((struct node *)0);
}
