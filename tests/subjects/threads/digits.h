/* Numbers as texts. Any thread may call this. */
#ifndef DIGITS_H
#define DIGITS_H

const char *digits_of(unsigned n);      /* good until the thread's next call */
#endif
