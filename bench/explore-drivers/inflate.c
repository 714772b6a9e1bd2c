#include <stdio.h>
#include <zlib.h>
#include <string.h>
static unsigned char in[1<<20], out[1<<16];
int main(void){ size_t n=fread(in,1,sizeof in,stdin); z_stream z; memset(&z,0,sizeof z); if(inflateInit2(&z,47)!=Z_OK) return 1; z.next_in=in; z.avail_in=(unsigned)n; int r; do { z.next_out=out; z.avail_out=sizeof out; r=inflate(&z,Z_NO_FLUSH);} while(r==Z_OK && z.total_out < 1<<20); inflateEnd(&z); return r!=Z_STREAM_END;}
