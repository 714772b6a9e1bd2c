/* rare - changes that show for few inputs only. */
#ifndef RARE_H
#define RARE_H
int rare_width(int c);                       /* of a character; wide ones have 2 */
int rare_level(const char *word);            /* the level of a word such as "info" */
int rare_same(int a, int b);                 /* a function that did not change */
const char *rare_name(int c);
#endif
