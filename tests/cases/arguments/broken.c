/*
 * name:   a unit that does not compile gives a note and no findings
 * run:    sundew arguments $file
 * expect: not analysed: $file:12: 'does/not/exist.h' file not found
 * expect: 1 of 1 units were not analysed
 * absent: swapped
 * status: 0
 */
void f(int width, int height);


#include "does/not/exist.h"
void g(int width, int height) { f(height, width); }
