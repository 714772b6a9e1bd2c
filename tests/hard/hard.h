/*
 * Programs with one input that is hard to find. The comment at the top of each
 * says how it gets its input, a seed that does no harm, a solution (which only
 * serves to check the program itself), and how it then fails. Built with -DTWIN
 * it is correct: no input makes it fail.
 */
#ifndef HARD_H
#define HARD_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TWIN
#define SAFE 1
#define BUG() ((void)0)
#else
#define SAFE 0
#define BUG() abort()
#endif
#endif
