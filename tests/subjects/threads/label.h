/* Labels: any thread may ask for one. */
#ifndef LABEL_H
#define LABEL_H

int label_number(int n);                /* of the label for n: n again */
#endif
