/*
 * name:   one parameter is called by the words that both have in common
 * run:    sundew arguments $file
 * expect: $file:22:12: arguments: field_delete: arguments 2 and 3
 * expect: $file:26:12: arguments: field_find: arguments 2 and 3
 * absent: $file:17:12: arguments:
 * absent: $file:18:12: arguments:
 * status: 1
 */
struct entry;
int field_delete(struct entry *e, unsigned short id, unsigned short id_idx);
int field_find(struct entry *e, unsigned short field_id, unsigned short field_idx);

int right(struct entry *e, unsigned short ef_id, unsigned short ef_idx,
          unsigned short eid, unsigned short eidx)
{
    return field_delete(e, ef_id, ef_idx) +
           field_find(e, eid, eidx);
}
int wrong(struct entry *e, unsigned short ef_id, unsigned short ef_idx)
{
    return field_delete(e, ef_idx, ef_id);
}
int short_names(struct entry *e, unsigned short eid, unsigned short eidx)
{
    return field_find(e, eidx, eid);
}
