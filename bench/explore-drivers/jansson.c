#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>
static char buf[1<<20];
int main(void){ size_t n=fread(buf,1,sizeof buf,stdin); json_error_t e; json_t *j=json_loadb(buf,n,JSON_DECODE_ANY,&e); if(!j) return 1; char *s=json_dumps(j,JSON_ENCODE_ANY|JSON_INDENT(2)); free(s); json_decref(j); return 0;}
