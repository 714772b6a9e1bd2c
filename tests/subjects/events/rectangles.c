/* Eleven rectangles of a screen; children are tested last first. A tap is an event. */
struct view {
    int left, top, right, bottom;       /* in the parent */
    const struct view *children;
    int n;
};

static const struct view ll1[] = { { 8, 8, 104, 104, 0, 0 },       /* rewind, play, pause, skip */
                                   { 120, 8, 216, 104, 0, 0 },
                                   { 232, 8, 328, 104, 0, 0 },
                                   { 344, 8, 440, 104, 0, 0 } };
static const struct view ll2[] = { { 8, 8, 104, 104, 0, 0 },       /* stop, eject */
                                   { 120, 8, 216, 104, 0, 0 } };
static const struct view fl2[] = { { 16, 305, 464, 417, ll1, 4 }, { 128, 447, 352, 559, ll2, 2 } };
static const struct view fl1[] = { { 10, 4, 200, 34, 0, 0 }, { 0, 38, 480, 800, fl2, 2 } };
static const struct view root = { 0, 0, 480, 800, fl1, 2 };

int contains(const struct view *v, int x, int y)
{
    return v->left <= x && x < v->right && v->top <= y && y < v->bottom;
}

static const struct view *dispatch(const struct view *v, int x, int y)
{
    for (int i = v->n - 1; i >= 0; i--) {
        const struct view *c = &v->children[i];
        if (contains(c, x, y))
            return dispatch(c, x - c->left, y - c->top);
    }
    return v;
}

const struct view *volatile tapped;     /* somebody wants the result */

void tap(int x, int y)
{
    if (contains(&root, x, y))
        tapped = dispatch(&root, x, y);
}

int main(void)
{
    tap(1, 1);
    return 0;
}
