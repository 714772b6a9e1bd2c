/* Not of the API: cursors come from here, too. */
struct cursor;
struct cursor *cursor_of_nothing(void);
