#include <stdio.h>
#include <stdlib.h>
#include "cJSON.h"
static char buf[1<<20];
int main(void){ size_t n=fread(buf,1,sizeof buf-1,stdin); buf[n]=0;
 cJSON *j=cJSON_Parse(buf); if(!j) return 1; char *s=cJSON_Print(j); if(s){puts(s);free(s);} s=cJSON_PrintUnformatted(j); if(s){free(s);} cJSON_Minify(buf); cJSON_Delete(j); return 0;}
