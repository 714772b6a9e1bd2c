/* Parses, builds and prints JSON. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    cJSON *root = cJSON_Parse("{\"name\": \"Awesome 4K\", \"resolutions\":"
                              " [{\"width\": 1280, \"height\": 720}, {\"width\": 1920}], \"on\": true}");
    cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "resolutions"), *r;
    cJSON_ArrayForEach(r, list)
        printf("%d\n", cJSON_GetObjectItem(r, "width")->valueint);
    printf("%s, %d, %d\n", cJSON_GetStringValue(cJSON_GetObjectItem(root, "name")),
           cJSON_IsTrue(cJSON_GetObjectItem(root, "on")), cJSON_GetArraySize(list));
    cJSON *more = cJSON_CreateObject();
    cJSON_AddNumberToObject(more, "width", 3840);
    cJSON_AddStringToObject(more, "label", "4K \"UHD\"");
    cJSON_AddItemToArray(list, more);
    cJSON_AddItemToObject(root, "extra", cJSON_CreateIntArray((const int[]){ 1, 2, 3 }, 3));
    char *text = cJSON_Print(root);
    puts(text);
    free(text);
    cJSON_DeleteItemFromObject(root, "on");
    cJSON_ReplaceItemInArray(list, 0, cJSON_CreateNull());
    cJSON *copy = cJSON_Duplicate(root, 1);
    cJSON *taken = cJSON_DetachItemFromObject(copy, "extra");
    printf("equal: %d\n", cJSON_Compare(root, copy, 1));
    text = cJSON_PrintUnformatted(copy);
    puts(text);
    free(text);
    cJSON_Delete(taken);
    cJSON_Delete(copy);
    cJSON_Delete(root);
    printf("%d\n", cJSON_Parse("[1, 2") == NULL);
    return 0;
}
