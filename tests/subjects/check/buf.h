struct buf { int start, length; };
void buf_set(struct buf *b, int start, int length);
void buf_crop(struct buf *b, int start, int length);
int buf_end(struct buf *b);
