/*
 * name:   a struct that does not begin with the base
 * run:    sundew types --own-only $file
 * expect: $file:39:11: types: visit: argument 1 points to struct color
 * expect: 40 of 41 callers pass struct node
 * status: 1
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
    visit((struct node *)c);
}
