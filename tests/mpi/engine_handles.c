/* Every handle that the chapter on I/O hands out, got, used and freed LOOPS times: engine_handles FILE LOOPS. */
#include <malloc.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, loops;
static long called; /* how often the error handler of this program was */

#define CHECK(condition) check(condition, #condition, __LINE__)
static void check(int right, const char *what, int line)
{
    if (right)
        return;
    fprintf(stderr, "engine_handles.c:%d, rank %d: not so: %s\n", line, rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

/* ---- memory ---- */

static long used(void)
{
    const struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
}

/* What a part of this test leaves behind must not grow with its loops. An MPI takes a block of requests or types at
 * once, and MPICH itself loses some bytes with each MPI_Type_dup of some types: `allowed` for each loop. */
enum { BLOCKS = 512 << 10 };
static double allowed;

static void check_memory(const char *part, void (*once)(MPI_File fh, int i), MPI_File fh)
{
    const int warm = loops / 10 + 1;
    for (int i = 0; i < warm; i++)
        once(fh, i);
    const long before = used();
    for (int i = 0; i < loops; i++)
        once(fh, i);
    const long grown = used() - before;
    if (loops >= 10000 && (double)grown > BLOCKS + (allowed + 8) * loops) {
        fprintf(stderr, "engine_handles.c, rank %d: %s: %ld bytes more in %d loops\n", rank, part, grown, loops);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- error handlers ---- */

static void on_error(MPI_File *fh, int *code, ...)
{
    (void)fh;
    (void)code;
    called++;
}

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static MPI_Errhandler predefined(int i)
{
#ifdef MPICH
    if (i % 3 == 2)
        return MPI_ERRORS_ABORT;
#endif
    return i % 3 == 1 ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN;
}

static void get_and_free(MPI_File fh, MPI_Errhandler expected, int times)
{
    MPI_Errhandler got[3];
    for (int i = 0; i < times; i++) {
        CHECK(MPI_File_get_errhandler(fh, &got[i]) == MPI_SUCCESS);
        CHECK(got[i] == expected);
    }
    for (int i = 0; i < times; i++) {
        CHECK(MPI_Errhandler_free(&got[i]) == MPI_SUCCESS);
        CHECK(got[i] == MPI_ERRHANDLER_NULL);
    }
}

static void predefined_once(MPI_File fh, int i)
{
    const MPI_Errhandler handler = predefined(i);
    CHECK(MPI_File_set_errhandler(fh, handler) == MPI_SUCCESS);
    get_and_free(fh, handler, 1 + i % 3);
    CHECK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    get_and_free(fh, MPI_ERRORS_RETURN, 1);
}

/* The references of communicators are the MPI's own; the two kinds come and go in any order. */
static void mixed_once(MPI_File fh, int i)
{
    MPI_Errhandler of_comm, of_file, first, second;
    CHECK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_comm) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, of_comm) == MPI_SUCCESS);
    CHECK(MPI_File_get_errhandler(fh, &of_file) == MPI_SUCCESS && of_file == of_comm);
    first = i % 2 ? of_comm : of_file;
    second = i % 2 ? of_file : of_comm;
    CHECK(MPI_Errhandler_free(&first) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&second) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_comm) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&of_comm) == MPI_SUCCESS);
}

/* A handler lives as long as somebody has it: the program, a file, or one that got it from the file. */
static void own_once(MPI_File fh, int i)
{
    MPI_Errhandler made, got, again;
    const long before = called;
    char byte = 0;
    CHECK(MPI_File_create_errhandler(on_error, &made) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, made) == MPI_SUCCESS);
    if (i % 2)
        CHECK(MPI_Errhandler_free(&made) == MPI_SUCCESS && made == MPI_ERRHANDLER_NULL);
    CHECK(MPI_File_get_errhandler(fh, &got) == MPI_SUCCESS);
    if (i % 4 == 0)
        CHECK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, got) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);
    if (fh != MPI_FILE_NULL)
        CHECK(MPI_File_write_at(fh, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_File_call_errhandler(fh, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(called == before + 1 + (fh != MPI_FILE_NULL));
    CHECK(MPI_File_get_errhandler(fh, &again) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&again) == MPI_SUCCESS);
    if (made != MPI_ERRHANDLER_NULL)
        CHECK(MPI_Errhandler_free(&made) == MPI_SUCCESS);
    get_and_free(fh, MPI_ERRORS_RETURN, 1);
}

/* Files opened while the default is one of this program keep it after it was freed, and hand it out. */
static void default_stays(const char *name)
{
    MPI_Errhandler made, got;
    MPI_File fh;
    char byte = 0;
    const long before = called;
    CHECK(MPI_File_create_errhandler(on_error, &made) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, made) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&made) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(fh, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(called == before + 1);
    CHECK(MPI_File_get_errhandler(fh, &got) == MPI_SUCCESS);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, got) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(fh, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(called == before + 2);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

static void foreign_handler(MPI_File fh)
{
    MPI_Errhandler of_comm;
    CHECK(MPI_Comm_create_errhandler(on_comm_error, &of_comm) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, of_comm) != MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&of_comm) == MPI_SUCCESS && of_comm == MPI_ERRHANDLER_NULL);
    get_and_free(fh, MPI_ERRORS_RETURN, 3);
}

/* ---- infos, groups ---- */

static void info_once(MPI_File fh, int i)
{
    MPI_Info info, copy;
    int keys, there;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
    CHECK(MPI_File_get_info(fh, &info) == MPI_SUCCESS && info != MPI_INFO_NULL);
    CHECK(MPI_Info_get_nkeys(info, &keys) == MPI_SUCCESS && keys > 0);
    CHECK(MPI_Info_get_nthkey(info, i % keys, key) == MPI_SUCCESS);
    CHECK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there) == MPI_SUCCESS && there);
    CHECK(MPI_Info_set(info, "of_the_program", "1") == MPI_SUCCESS); /* it is the program's own copy */
    CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
    CHECK(MPI_Info_free(&copy) == MPI_SUCCESS);
}

static void set_info_once(MPI_File fh, int i)
{
    MPI_Info info;
    (void)i;
    CHECK(MPI_File_get_info(fh, &info) == MPI_SUCCESS);
    CHECK(MPI_File_set_info(fh, info) == MPI_SUCCESS);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
}

static void group_once(MPI_File fh, int i)
{
    MPI_Group group, world, both;
    int size, own, same;
    (void)i;
    CHECK(MPI_File_get_group(fh, &group) == MPI_SUCCESS);
    CHECK(MPI_Group_size(group, &size) == MPI_SUCCESS && size == ranks);
    CHECK(MPI_Group_rank(group, &own) == MPI_SUCCESS && own == rank);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
    CHECK(MPI_Group_compare(group, world, &same) == MPI_SUCCESS && same == MPI_IDENT);
    CHECK(MPI_Group_union(group, world, &both) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS && group == MPI_GROUP_NULL);
    CHECK(MPI_Group_free(&world) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&both) == MPI_SUCCESS);
}

/* ---- datatypes ---- */

enum { TYPES = 11 };

/* A type, committed; the program may free it or not (`*ret_named`). */
static MPI_Datatype make_type(int kind, int *ret_named)
{
    MPI_Datatype type, inner;
    const int sizes[2] = {8, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 1}, two = 2;
    const int blocks[2] = {1, 2}, apart[2] = {1, 4};
    const MPI_Aint places[2] = {0, 16};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    const int distribution = MPI_DISTRIBUTE_CYCLIC, argument = 1, process = 1, array = 8;
    *ret_named = kind < 2;
    switch (kind) {
    case 0:
        return MPI_BYTE;
    case 1:
        return MPI_INT;
    case 2:
        MPI_Type_contiguous(2, MPI_INT, &type);
        break;
    case 3:
        MPI_Type_vector(2, 1, 3, MPI_INT, &type);
        break;
    case 4:
        MPI_Type_create_resized(MPI_INT, 0, 16, &type);
        break;
    case 5:
        MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
        break;
    case 6:
        MPI_Type_create_darray(1, 0, 1, &array, &distribution, &argument, &process, MPI_ORDER_C, MPI_INT, &type);
        break;
    case 7:
        MPI_Type_create_struct(2, blocks, places, types, &type);
        break;
    case 8:
        MPI_Type_dup(MPI_INT, &type);
        break;
    case 9:
        MPI_Type_create_indexed_block(2, 1, apart, MPI_INT, &type);
        break;
    default: /* of one that is freed before it is used */
        MPI_Type_vector(two, 1, two, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 64, &type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

static int is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    CHECK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS);
    return combiner == MPI_COMBINER_NAMED;
}

static void free_got(MPI_Datatype *type, MPI_Datatype named)
{
    if (is_named(*type))
        CHECK(*type == named);
    else
        CHECK(MPI_Type_free(type) == MPI_SUCCESS && *type == MPI_DATATYPE_NULL);
}

static MPI_Datatype etype_named, filetype_named; /* of the view in force; MPI_DATATYPE_NULL: derived */
static MPI_Count filetype_bytes;

static void view_once(MPI_File fh, int i)
{
    MPI_Offset disp = -1;
    MPI_Datatype etype, filetype;
    MPI_Count bytes;
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    (void)i;
    CHECK(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep) == MPI_SUCCESS);
    CHECK(disp == 8 && strcmp(datarep, "native") == 0);
    CHECK(MPI_Type_size_x(filetype, &bytes) == MPI_SUCCESS && bytes == filetype_bytes);
    free_got(&filetype, filetype_named);
    free_got(&etype, etype_named);
}

/* What get_view gave is good for set_view, and is freed behind it. */
static void set_view_once(MPI_File fh, int i)
{
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    (void)i;
    CHECK(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(fh, disp, etype, filetype, datarep, MPI_INFO_NULL) == MPI_SUCCESS);
    free_got(&filetype, filetype_named);
    free_got(&etype, etype_named);
}

static double lost_by_mpi(MPI_Datatype type)
{
    MPI_Datatype copy;
    const long before = used();
    for (int i = 0; i < 1000; i++) {
        MPI_Type_dup(type, &copy);
        MPI_Type_free(&copy);
    }
    return (double)(used() - before) / 1000;
}

static void try_views(MPI_File fh)
{
    const int all = loops;
    for (int kind = 0; kind < TYPES; kind++) {
        int named;
        char text[32];
        MPI_Datatype filetype = make_type(kind, &named);
        MPI_Datatype etype = kind == 2 || kind == 8 ? filetype : kind == 0 ? MPI_BYTE : MPI_INT;
        filetype_named = named ? filetype : MPI_DATATYPE_NULL;
        etype_named = etype == filetype ? filetype_named : etype;
        MPI_Type_size_x(filetype, &filetype_bytes);
        CHECK(MPI_File_set_view(fh, 8, etype, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
        allowed = 2 * lost_by_mpi(filetype); /* filetype and etype */
        if (!named)
            CHECK(MPI_Type_free(&filetype) == MPI_SUCCESS);
        snprintf(text, sizeof text, "get_view of type %d", kind);
        check_memory(text, view_once, fh);
        loops = all / 200; /* all ranks meet in each */
        check_memory(text, set_view_once, fh);
        loops = all;
    }
    allowed = 0;
    CHECK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
}

/* ---- requests ---- */

static void request_once(MPI_File fh, int i)
{
    static char out[64], in[64];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0, count;
    CHECK(MPI_File_iwrite_at(fh, 64 * rank, out, 64, MPI_BYTE, &request) == MPI_SUCCESS);
    CHECK(request != MPI_REQUEST_NULL);
    if (i % 3 == 0)
        CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    else if (i % 3 == 1)
        while (!flag)
            CHECK(MPI_Test(&request, &flag, &status) == MPI_SUCCESS);
    else
        CHECK(MPI_Waitall(1, &request, &status) == MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == 64);
    CHECK(MPI_File_iread_at(fh, 64 * rank, in, 64, MPI_BYTE, &request) == MPI_SUCCESS);
    if (i % 7 == 0) { /* a freed request ends by itself */
        CHECK(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
        return;
    }
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
}

/* ---- handles of files ---- */

static void number_once(MPI_File fh, int i)
{
    const MPI_Fint number = MPI_File_c2f(fh);
    CHECK(MPI_File_f2c(number) == fh);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_File_f2c((MPI_Fint)(100000 + i)) == MPI_FILE_NULL);
    CHECK(MPI_File_f2c((MPI_Fint)(-1 - i)) == MPI_FILE_NULL);
}

/* Nothing is handed out of no file, nor of one that was closed. */
static void no_file(MPI_File fh)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Offset disp = 77;
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    char datarep[MPI_MAX_DATAREP_STRING] = "", byte = 0;
    CHECK(class_of(MPI_File_get_info(fh, &info)) == MPI_ERR_FILE && info == MPI_INFO_NULL);
    CHECK(class_of(MPI_File_get_group(fh, &group)) == MPI_ERR_FILE && group == MPI_GROUP_NULL);
    CHECK(class_of(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep)) == MPI_ERR_FILE);
    CHECK(disp == 77 && etype == MPI_DATATYPE_NULL && filetype == MPI_DATATYPE_NULL && !*datarep);
    CHECK(class_of(MPI_File_iread_at(fh, 0, &byte, 1, MPI_BYTE, &request)) == MPI_ERR_FILE);
    CHECK(request == MPI_REQUEST_NULL);
}

static void closed_file(const char *name)
{
    MPI_File fh, kept;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    const MPI_Fint number = MPI_File_c2f(fh);
    kept = fh;
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS && fh == MPI_FILE_NULL);
    CHECK(MPI_File_f2c(number) == MPI_FILE_NULL);
    no_file(kept);
    CHECK(class_of(MPI_File_get_errhandler(kept, &handler)) == MPI_ERR_FILE && handler == MPI_ERRHANDLER_NULL);
    CHECK(class_of(MPI_File_close(&kept)) == MPI_ERR_FILE);
}

/* Open and close with all of it in between: nothing of a file outlives it. */
static const char *file_name;
static void open_once(MPI_File none, int i)
{
    MPI_File fh;
    MPI_Datatype type;
    MPI_Errhandler made;
    MPI_Info info;
    (void)none;
    (void)i;
    CHECK(MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(fh, 8, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
    CHECK(MPI_File_create_errhandler(on_error, &made) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, made) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&made) == MPI_SUCCESS);
    CHECK(MPI_File_get_info(fh, &info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    file_name = argv[1];
    loops = atoi(argv[2]);
    const int all = loops;
    CHECK(MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    check_memory("predefined handlers", predefined_once, fh);
    check_memory("the default's handlers", predefined_once, MPI_FILE_NULL);
    check_memory("handlers of files and communicators", mixed_once, fh);
    check_memory("handlers of the program", own_once, fh);
    check_memory("the default's, of the program", own_once, MPI_FILE_NULL);
    foreign_handler(fh);
    foreign_handler(MPI_FILE_NULL);
    check_memory("infos", info_once, fh);
    check_memory("groups", group_once, fh);
    check_memory("numbers", number_once, fh);
    check_memory("requests", request_once, fh);
    try_views(fh);
    loops = all / 200;
    check_memory("set_info", set_info_once, fh);
    check_memory("open and close", open_once, MPI_FILE_NULL);
    default_stays(file_name);
    no_file(MPI_FILE_NULL);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    closed_file(file_name);
    get_and_free(MPI_FILE_NULL, MPI_ERRORS_RETURN, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: engine_handles is right\n", ranks);
    MPI_Finalize();
    return 0;
}
