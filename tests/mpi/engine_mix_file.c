/* Files of engine_mix: what is accessed how, and which bytes must be where. */
#include "engine_mix.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AREA_BYTES = 1 << 24, RECORD_BYTES = 64, GAP = 0x5a };

/* ---- which byte is where ---- */

/* A byte of this rank's; each is written once. */
static char byte_of(const struct slot *slot, int64_t offset)
{
    const uint64_t mixed = ((uint64_t)offset * 4 + (uint64_t)slot->index) * 0x9e3779b97f4a7c15u;
    return (char)((mixed >> 40) + (uint64_t)mix.rank * 17 + (uint64_t)mix.number);
}

/* A byte of a write by the shared pointer: records that say whose they are. */
static char record_byte(const struct access *access, int64_t i)
{
    const unsigned char head[4] = {0xc7, (unsigned char)mix.rank, (unsigned char)access->number,
                                   (unsigned char)(i / RECORD_BYTES)};
    return (char)(i % RECORD_BYTES < 4 ? head[i % RECORD_BYTES] : (unsigned char)(i * 3 + mix.rank));
}

static char wanted_byte(const struct access *access, int64_t i)
{
    return access->place == SHARED || access->place == ORDERED ? record_byte(access, i)
                                                               : byte_of(access->slot, access->offset + i);
}

/* Where the bytes of a place begin for this rank, in etypes of its view. */
static int64_t area(const struct slot *slot, enum place place)
{
    if (slot->strided)
        return place == AT ? AREA_BYTES : 0;
    return (int64_t)AREA_BYTES * (1 + 2 * slot->rank + (place == AT));
}

/* ---- open and close ---- */

static void on_error(MPI_File *file, int *code, ...)
{
    (void)file;
    mix.handler_calls++;
    if (!mix.faults) {
        char words[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(*code, words, &length);
        complain("%s", words);
    }
}

/* One for all files, made before any fault can strike. */
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

/* Which ranks share the file: all in their order, all in the reverse order, or those of a colour. */
static void make_comm_coll(struct slot *slot)
{
    const int kind = (int)draw(&mix.plan, 0, 3);
    slot->colour = kind == 3 ? mix.rank % 2 : 0;
    if (kind == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &slot->comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, slot->colour, kind == 1 ? mix.rank : -mix.rank, &slot->comm);
    MPI_Comm_rank(slot->comm, &slot->rank);
    MPI_Comm_size(slot->comm, &slot->ranks);
}

static MPI_Info draw_hints(void)
{
    static const char *const SWITCH[] = {"enable", "disable", "automatic"};
    char number[32];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", SWITCH[draw(&mix.plan, 0, 3) % 3]);
    MPI_Info_set(info, "romio_cb_read", SWITCH[draw(&mix.plan, 0, 3) % 3]);
    MPI_Info_set(info, "romio_ds_write", SWITCH[draw(&mix.plan, 0, 2)]);
    snprintf(number, sizeof number, "%d", (int)draw(&mix.plan, 1, mix.ranks));
    MPI_Info_set(info, "cb_nodes", number);
    snprintf(number, sizeof number, "%d", 1 << draw(&mix.plan, 8, 17));
    MPI_Info_set(info, "cb_buffer_size", number);
    return info;
}

static int set_view_coll(const struct slot *slot)
{
    if (!slot->strided)
        return MPI_File_set_view(slot->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous((int)slot->piece_bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, slot->piece_bytes * slot->ranks, &filetype);
    MPI_Type_commit(&filetype);
    const int code = MPI_File_set_view(slot->file, slot->rank * slot->piece_bytes, MPI_BYTE, filetype, "native",
                                       MPI_INFO_NULL);
    MPI_Type_free(&piece);
    MPI_Type_free(&filetype);
    return code;
}

void slot_open_coll(struct slot *slot, int index)
{
    *slot = (struct slot){.index = index, .file = MPI_FILE_NULL};
    if (handler == MPI_ERRHANDLER_NULL)
        MPI_File_create_errhandler(on_error, &handler);
    make_comm_coll(slot);
    snprintf(slot->path, sizeof slot->path, "%s.%lld.%d.%d", mix.path, (long long)mix.number, index, slot->colour);
    slot->strided = draw(&mix.plan, 0, 1);
    slot->piece_bytes = draw(&mix.plan, 1, draw(&mix.plan, 0, 1) ? 100 : 3000);
    const bool atomic = draw(&mix.plan, 0, 5) == 0;
    MPI_Info info = draw_hints();
    doing("opening file %d", index);
    const int code = MPI_File_open(slot->comm, slot->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &slot->file);
    MPI_Info_free(&info);
    int opened = code == MPI_SUCCESS, least = 0;
    MPI_Allreduce(&opened, &least, 1, MPI_INT, MPI_MIN, slot->comm);
    if (opened != least || (!opened && !mix.faults))
        complain("the file is open here: %d; on all ranks: %d", opened, least);
    if (!opened)
        return;
    MPI_File_set_errhandler(slot->file, handler);
    int views = set_view_coll(slot) == MPI_SUCCESS, atomics = MPI_File_set_atomicity(slot->file, atomic) == MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &views, 1, MPI_INT, MPI_MIN, slot->comm);
    MPI_Allreduce(MPI_IN_PLACE, &atomics, 1, MPI_INT, MPI_MIN, slot->comm);
    if (!views || !atomics) { /* by a fault: nothing is known of the place of bytes */
        MPI_File_close(&slot->file);
        return;
    }
    for (int place = AT; place <= INDIVIDUAL; place++)
        slot->next[place] = area(slot, (enum place)place);
    MPI_File_seek(slot->file, slot->next[INDIVIDUAL], MPI_SEEK_SET);
}

void slot_close_coll(struct slot *slot)
{
    doing("closing file %d", slot->index);
    if (slot->file != MPI_FILE_NULL)
        MPI_File_close(&slot->file);
}

/* ---- memory ---- */

static char *byte_at(const struct access *access, int64_t i)
{
    return access->memory + i / access->block_bytes * access->step_bytes + i % access->block_bytes;
}

/* The memory and its type, which is freed as soon as the access has begun. */
static MPI_Datatype make_memory(struct access *access, int *ret_count)
{
    MPI_Datatype type;
    access->block_bytes = access->step_bytes = access->bytes > 0 ? access->bytes : 1;
    if (access->bytes > 1 && draw(&mix.own, 0, 1)) {
        access->block_bytes = draw(&mix.own, 1, access->bytes < 900 ? access->bytes : 900);
        access->step_bytes = access->block_bytes + draw(&mix.own, 0, 20);
    }
    const int64_t blocks = access->bytes / access->block_bytes, rest = access->bytes % access->block_bytes;
    const int lengths[2] = {1, (int)rest};
    const MPI_Aint places[2] = {0, blocks * access->step_bytes};
    MPI_Datatype parts[2] = {MPI_BYTE, MPI_BYTE};
    MPI_Type_vector((int)blocks, (int)access->block_bytes, (int)access->step_bytes, MPI_BYTE, &parts[0]);
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&parts[0]);
    *ret_count = 1;
    access->memory = allocate((blocks + 1) * access->step_bytes);
    memset(access->memory, GAP, (size_t)((blocks + 1) * access->step_bytes));
    for (int64_t i = 0; i < access->bytes && access->write; i++)
        *byte_at(access, i) = wanted_byte(access, i);
    return type;
}

static void check_memory(const struct access *access)
{
    for (int64_t i = 0; i < access->bytes; i++)
        if (*byte_at(access, i) != wanted_byte(access, i)) {
            complain("byte %lld of %lld, at offset %lld of file %d, is %d in memory in the place of %d", (long long)i,
                     (long long)access->bytes, (long long)access->offset, access->slot->index, *byte_at(access, i),
                     wanted_byte(access, i));
            return;
        }
    const int64_t all = (access->bytes / access->block_bytes + 1) * access->step_bytes;
    for (int64_t i = 0; i < all; i++)
        if (i % access->step_bytes >= access->block_bytes && access->memory[i] != GAP) {
            complain("byte %lld between pieces of memory has changed", (long long)i);
            return;
        }
}

void access_end(struct access *access, int code, const MPI_Status *status)
{
    int count = -1, cancelled = 1;
    access->known = code == MPI_SUCCESS;
    if (!access->known && !mix.faults)
        complain("an access of file %d fails with error %d", access->slot->index, code);
    if (status && access->known) {
        MPI_Get_count(status, MPI_BYTE, &count);
        MPI_Test_cancelled(status, &cancelled);
        if (count != access->bytes || cancelled)
            complain("%s of %lld bytes of file %d: the status says %d%s", access->write ? "write" : "read",
                     (long long)access->bytes, access->slot->index, count, cancelled ? ", cancelled" : "");
    }
    if (access->known)
        check_memory(access);
    free(access->memory);
    access->memory = NULL;
}

/* ---- accesses ---- */

static int64_t draw_bytes(const struct access *access)
{
    if (access->place == SHARED || access->place == ORDERED)
        return RECORD_BYTES * draw(&mix.own, 0, 6);
    switch (draw(&mix.own, 0, 7)) {
    case 0:
        return 0;
    case 1:
        return draw(&mix.own, 1, 100000);
    default:
        return draw(&mix.own, 1, 3000);
    }
}

/* A part of what was written before; nothing where there is nothing. */
static void choose_to_read(struct access *access)
{
    const struct access *found = NULL;
    int seen = 0;
    for (const struct access *old = access->slot->first; old; old = old->next)
        if (old->write && old->known && old->bytes > 0 && old->place <= INDIVIDUAL && draw(&mix.own, 0, seen++) == 0)
            found = old;
    access->offset = area(access->slot, access->place);
    access->bytes = 0;
    if (!found)
        return;
    const int64_t skip = draw(&mix.own, 0, found->bytes - 1);
    access->offset = found->offset + skip;
    access->bytes = draw(&mix.own, 0, found->bytes - skip);
}

static void choose_to_write(struct access *access)
{
    access->bytes = draw_bytes(access);
    if (access->place > INDIVIDUAL)
        return;
    access->offset = access->slot->next[access->place];
    access->slot->next[access->place] += access->bytes;
}

#define CALL(name, ...)  (access->write ? MPI_File_write##name(__VA_ARGS__) : MPI_File_read##name(__VA_ARGS__))
#define ICALL(name, ...) (access->write ? MPI_File_iwrite##name(__VA_ARGS__) : MPI_File_iread##name(__VA_ARGS__))

static int run_blocking(struct access *access, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_File file = access->slot->file;
    char *memory = access->memory;
    switch (access->place) {
    case AT:
        return access->together ? CALL(_at_all, file, access->offset, memory, count, type, status)
                                : CALL(_at, file, access->offset, memory, count, type, status);
    case INDIVIDUAL:
        return access->together ? CALL(_all, file, memory, count, type, status)
                                : CALL(, file, memory, count, type, status);
    case SHARED:
        return CALL(_shared, file, memory, count, type, status);
    default:
        return CALL(_ordered, file, memory, count, type, status);
    }
}

static int run_nonblocking(struct access *access, int count, MPI_Datatype type, MPI_Request *request)
{
    MPI_File file = access->slot->file;
    char *memory = access->memory;
    if (access->place == SHARED)
        return ICALL(_shared, file, memory, count, type, request);
    if (access->place == AT)
        return access->together ? ICALL(_at_all, file, access->offset, memory, count, type, request)
                                : ICALL(_at, file, access->offset, memory, count, type, request);
    return access->together ? ICALL(_all, file, memory, count, type, request)
                            : ICALL(, file, memory, count, type, request);
}

static int run_begin(struct access *access, int count, MPI_Datatype type)
{
    MPI_File file = access->slot->file;
    char *memory = access->memory;
    if (access->place == AT)
        return CALL(_at_all_begin, file, access->offset, memory, count, type);
    return access->place == ORDERED ? CALL(_ordered_begin, file, memory, count, type)
                                    : CALL(_all_begin, file, memory, count, type);
}

void slot_end_split_coll(struct slot *slot)
{
    struct access *access = slot->split;
    MPI_Status status;
    slot->split_is_active = false;
    slot->split = NULL;
    if (!access)
        return;
    doing("end of a split %s of file %d", access->write ? "write" : "read", slot->index);
    const int before = mix.handler_calls;
    const int code = access->place == AT        ? CALL(_at_all_end, slot->file, access->memory, &status)
                     : access->place == ORDERED ? CALL(_ordered_end, slot->file, access->memory, &status)
                                                : CALL(_all_end, slot->file, access->memory, &status);
    if (mix.handler_calls - before != (code != MPI_SUCCESS))
        complain("the end returns %d, and the error handler was called %d times", code, mix.handler_calls - before);
    access_end(access, code, &status);
}

static void start(struct access *access, enum mode mode, int count, MPI_Datatype type)
{
    struct slot *slot = access->slot;
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    const int before = mix.handler_calls;
    int code;
    if (mode == BLOCKING) {
        code = run_blocking(access, count, type, &status);
        access_end(access, code, &status);
    } else if (mode == NONBLOCKING) {
        code = run_nonblocking(access, count, type, &request);
        if (code == MPI_SUCCESS)
            request_add(request, (struct subject){.access = access});
        else
            access_end(access, code, NULL);
    } else {
        code = run_begin(access, count, type);
        if (code == MPI_SUCCESS)
            slot->split = access;
        else
            access_end(access, code, NULL);
    }
    if (mix.handler_calls - before != (code != MPI_SUCCESS))
        complain("the call returns %d, and the error handler was called %d times", code, mix.handler_calls - before);
}

/* The pointer stands behind the last write; for a read it is moved and set back, and after a fault nobody knows. */
static void run(struct access *access, enum mode mode)
{
    struct slot *slot = access->slot;
    MPI_Offset position = -1;
    int count;
    if (access->place == INDIVIDUAL && (mix.faults || !access->write))
        MPI_File_seek(slot->file, access->offset, MPI_SEEK_SET);
    if (access->place == INDIVIDUAL) {
        MPI_File_get_position(slot->file, &position);
        if (position != access->offset)
            complain("the file pointer is at %lld in the place of %lld", (long long)position,
                     (long long)access->offset);
    }
    MPI_Datatype type = make_memory(access, &count);
    doing("%s %s%s, place %d, of %lld bytes at %lld of file %d",
          (const char *[]){"blocking", "non-blocking", "split"}[mode], access->write ? "write" : "read",
          access->together ? "_all" : "", (int)access->place, (long long)access->bytes, (long long)access->offset,
          slot->index);
    start(access, mode, count, type);
    MPI_Type_free(&type);
    if (access->place == INDIVIDUAL && !access->write)
        MPI_File_seek(slot->file, slot->next[INDIVIDUAL], MPI_SEEK_SET);
}

/* What all ranks do with the file, as far as they must do it alike. */
void slot_event_coll(struct slot *slot)
{
    const bool together = draw(&mix.plan, 0, 2) > 0, write = draw(&mix.plan, 0, 2) > 0;
    const int64_t draws[3] = {draw(&mix.plan, 0, 3), draw(&mix.plan, 0, 2), draw(&mix.plan, 0, 14)};
    enum place place = (enum place)draws[0];
    enum mode mode = (enum mode)draws[1];
    if (slot->file == MPI_FILE_NULL)
        return;
    if (together && slot->split_is_active) {
        slot_end_split_coll(slot);
        return;
    }
    if (draws[2] == 0 && !slot->split_is_active) {
        requests_complete_all(); /* the standard asks for it */
        doing("sync of file %d", slot->index);
        MPI_File_sync(slot->file);
        return;
    }
    if (place > INDIVIDUAL && (slot->strided || !write))
        place = AT;
    if (place > INDIVIDUAL)
        place = together ? ORDERED : SHARED;
    if (mode == SPLIT && !together)
        mode = NONBLOCKING;
    if (mode == NONBLOCKING && place == ORDERED)
        mode = SPLIT;
    if (place == INDIVIDUAL && slot->split_is_active) /* may the pointer move in the end only? */
        place = AT;
    if (!together && draw(&mix.own, 0, 3) == 0)
        return; /* alone: not every rank */
    struct access *access = allocate(sizeof *access);
    *access = (struct access){.slot = slot, .next = slot->first, .place = place, .write = write, .together = together};
    access->number = slot->accesses++;
    slot->first = access;
    (write ? choose_to_write : choose_to_read)(access);
    slot->split_is_active = slot->split_is_active || mode == SPLIT;
    run(access, mode);
}

/* ---- what is in the file at last ---- */

static int64_t file_byte(const struct slot *slot, int64_t offset)
{
    if (!slot->strided)
        return offset;
    const int64_t piece = offset / slot->piece_bytes;
    return (piece * slot->ranks + slot->rank) * slot->piece_bytes + offset % slot->piece_bytes;
}

static void check_write(const struct access *access, int fd)
{
    const struct slot *slot = access->slot;
    char *found = allocate(access->bytes);
    for (int64_t i = 0; i < access->bytes;) {
        const int64_t offset = access->offset + i, left = access->bytes - i;
        const int64_t piece = slot->strided ? slot->piece_bytes - offset % slot->piece_bytes : left;
        const int64_t length = piece < left ? piece : left;
        if (pread(fd, found + i, (size_t)length, file_byte(slot, offset)) != length) {
            complain("file %d has no %lld bytes at byte %lld", slot->index, (long long)length,
                     (long long)file_byte(slot, offset));
            break;
        }
        i += length;
    }
    for (int64_t i = 0; i < access->bytes; i++)
        if (found[i] != wanted_byte(access, i)) {
            complain("file %d, write %d at %lld: byte %lld of %lld is %d in the place of %d", slot->index,
                     access->number, (long long)access->offset, (long long)i, (long long)access->bytes, found[i],
                     wanted_byte(access, i));
            break;
        }
    free(found);
}

/* Somewhere among the records of all ranks, in one piece, and once. */
static void check_record(const struct access *access, const char *records, int64_t bytes)
{
    int times = 0;
    if (access->bytes == 0)
        return;
    for (int64_t at = 0; at + RECORD_BYTES <= bytes; at += RECORD_BYTES) {
        bool here = true;
        for (int i = 0; i < 4 && here; i++)
            here = records[at + i] == record_byte(access, i);
        if (!here)
            continue;
        times++;
        for (int64_t i = 0; i < access->bytes; i++)
            if (at + i >= bytes || records[at + i] != record_byte(access, i)) {
                complain("file %d, shared write %d: byte %lld is wrong", access->slot->index, access->number,
                         (long long)i);
                break;
            }
    }
    if (times != 1)
        complain("file %d, shared write %d of %lld bytes is %d times in the file", access->slot->index, access->number,
                 (long long)access->bytes, times);
}

void slot_check(struct slot *slot)
{
    const int fd = open(slot->path, O_RDONLY | O_CLOEXEC);
    char *records = slot->strided ? NULL : allocate(AREA_BYTES);
    const int64_t bytes = records ? pread(fd, records, AREA_BYTES, 0) : 0;
    doing("what is in file %d at last", slot->index);
    for (struct access *access = slot->first; access;) {
        struct access *next = access->next;
        if (access->write && access->known && access->place <= INDIVIDUAL)
            check_write(access, fd);
        else if (access->write && access->known)
            check_record(access, records, bytes);
        free(access->memory);
        free(access);
        access = next;
    }
    free(records);
    if (fd >= 0)
        close(fd);
    MPI_Barrier(slot->comm);
    if (slot->rank == 0)
        unlink(slot->path);
    MPI_Comm_free(&slot->comm);
}
