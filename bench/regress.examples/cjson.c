/* A modest use of cJSON: parse, change, print. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    cJSON *root = cJSON_Parse("{\"a\": [1, 2, {\"b\": null}], \"s\": \"text\"}");
    if (!root)
        return 1;
    cJSON *a = cJSON_GetObjectItem(root, "a");
    printf("%d %g\n", cJSON_GetArraySize(a), cJSON_GetNumberValue(cJSON_GetArrayItem(a, 1)));
    cJSON_AddNumberToObject(root, "n", 42);
    cJSON_AddItemToArray(a, cJSON_CreateString("x"));
    cJSON_AddItemToObject(root, "t", cJSON_CreateTrue());
    cJSON_ReplaceItemInObject(root, "s", cJSON_CreateString("other"));
    cJSON *copy = cJSON_Duplicate(root, 1);
    printf("%d\n", cJSON_Compare(root, copy, 1));
    cJSON_DeleteItemFromObject(copy, "n");
    cJSON *off = cJSON_DetachItemFromArray(cJSON_GetObjectItem(copy, "a"), 0);
    cJSON_Delete(off);
    char *text = cJSON_Print(copy);
    puts(text);
    cJSON_free(text);
    text = cJSON_PrintUnformatted(root);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(copy);
    cJSON_Delete(root);
    return 0;
}
