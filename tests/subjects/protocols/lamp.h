/* A lamp stands on a desk, which stays the caller's. */
struct lamp;
struct desk { int width; };
int lamp_new(struct lamp **out, struct desk *on);
void lamp_free(struct lamp *l);
void desk_move(struct desk *d);
