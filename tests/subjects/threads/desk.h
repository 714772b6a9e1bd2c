/* A desk with one sheet. Any thread may call these. */
#ifndef DESK_H
#define DESK_H

struct desk;

struct desk *desk_new(void);
void desk_free(struct desk *d);
int desk_post(struct desk *d);          /* how many were posted; or -1 */

/* Uses the desk for a moment: 0, or
 * -1 if it is busy. */
int desk_claim(struct desk *d);
int desk_turn(struct desk *d);          /* 0; -1: there is no sheet */
#endif
