/*
 * name:   one odd caller of two is a note: it may test a bad value
 * run:    sundew types $file
 * expect: $file:22:35: types: method_name: argument 1 is the number 1337
 * expect: 1 finding (1 note)
 * status: 0
 */
enum method { METHOD_GET, METHOD_PUT };

const char *method_name(enum method m);
const char *method_name(enum method m)
{
    static const char *const names[] = { "GET", "PUT" };
    return m <= METHOD_PUT ? names[m] : "none";
}

int main(void)
{
    const char *get = method_name(METHOD_GET);
    const char *put = method_name(METHOD_PUT);
    /* no such method */
    const char *bad = method_name(1337);
    return get == put || bad == put;
}
