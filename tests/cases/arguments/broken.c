/*
 * name:   a unit that does not compile gives no findings, and is told
 * run:    sundew arguments $file
 * expect: none of 1 units could be analysed
 * expect: $file:12: 'does/not/exist.h' file not found
 * absent: swapped
 * status: 2
 */
void f(int width, int height);


#include "does/not/exist.h"
void g(int width, int height) { f(height, width); }
