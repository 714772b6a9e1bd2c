/* Parsed and printed. */
#define OWN_TEXT ",{\"name\": \"etaoin\", \"x\": 12.75, \"tags\": [1, true, null]}"
#define OWN_FIRST '['
#define OWN_END "]"
#include "input.h"
#include "cJSON.h"

int main(int argc, char **argv)
{
    read_input();
    size_t sum = 0;
    for (int r = rounds(argc, argv); r > 0; r--) {
        cJSON *j = cJSON_ParseWithLength((const char *)input, ninput + 1);
        char *text = j ? cJSON_PrintUnformatted(j) : NULL;
        sum += text ? strlen(text) : 1;
        free(text);
        cJSON_Delete(j);
    }
    printf("%zu\n", sum);
    return 0;
}
