#include "lab/runner/info.h"

#include "base/notes.h"

const char *info_get(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    int found = 0;
    value[0] = '\0';
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    return found ? value : NULL;
}

void info_note(MPI_Info info, info_filter *wanted, const void *context, struct text *notes)
{
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        MPI_Info_get_nthkey(info, i, key);
        if ((!wanted || wanted(context, key)) && info_get(info, key, value))
            notes_add(notes, key, value);
    }
}

void info_note_file(MPI_File file, info_filter *wanted, const void *context, struct text *notes)
{
    MPI_Info info;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    info_note(info, wanted, context, notes);
    MPI_Info_free(&info);
}
