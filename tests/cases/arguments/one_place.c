/*
 * name:   two exchanges in one call are one finding
 * run:    sundew arguments $file
 * expect: $file:17:5: arguments: blit: arguments
 * expect: 1 finding
 * absent: 2 findings
 * status: 1
 */
void blit(int left, int top, long width, long height);

void a(int left, int top, long width, long height) { blit(left, top, width, height); }
void b(int left, int top, long width, long height) { blit(left, top, width, height); }
void c(int left, int top, long width, long height) { blit(left, top, width, height); }

void d(int left, int top, long width, long height)
{
    blit(top, left, height, width);
}
