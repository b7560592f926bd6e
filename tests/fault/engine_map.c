/* Files that others cut while the engine has parts of them mapped. Called by engine_map.sh:
 *   engine_map cuts FILE         each kind of access, after a cut and after a change of the program's SIGBUS
 *   engine_map storm FILE        accesses until FILE.over is there; meanwhile `engine_map cut FILE BYTES` cuts it
 *   engine_map hints FILE        the switch, the budget, and what MPI_File_get_info says
 *   engine_map write FILE KIND   writes the same places until it is killed; the time of the last call is in FILE.RANK
 */
#include "../mpi/engine_check.c"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { REGION = 4 << 20, SPAN = 2 << 20, PIECE = 256, STRIDE = 1024, SMALL = 100, SMALLS = 24, WARM = 4 };

static const char *path;
static char buffer[SPAN], back[SPAN];

static int64_t base_of(int of_rank)
{
    return (int64_t)of_rank * REGION;
}

static void fill(char *place, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        place[i] = (char)(i * 7 + i / 251 + (size_t)seed * 13 + 1);
}

/* All ranks: a full file, cached in large pieces. */
static void make_file(void)
{
    const int fd = open(path, O_CREAT | O_RDWR, 0666);
    for (int i = 0; i < REGION / SPAN; i++) {
        fill(buffer, SPAN, rank + 100);
        expect("making the file", pwrite(fd, buffer, SPAN, base_of(rank) + (int64_t)i * SPAN), SPAN);
    }
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cut(int64_t bytes)
{
    expect("truncate", truncate(path, bytes), 0);
}

/* ---- kinds of access: all begin at the rank's base ---- */

enum kind { SMALL_CALLS, LARGE, STRIDED, NONBLOCKING, COLLECTIVE, KINDS }; /* non-blocking: by a thread of the engine */
static const char *const NAMES[] = {"small", "large", "strided", "non-blocking", "collective"};

static MPI_File open_kind(enum kind kind)
{
    MPI_File file;
    fine("open", MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    if (kind >= STRIDED) {
        MPI_Datatype piece, type;
        MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, STRIDE, &type);
        MPI_Type_commit(&type);
        fine("set_view", MPI_File_set_view(file, base_of(rank), MPI_BYTE, type, "native", MPI_INFO_NULL));
        MPI_Type_free(&piece);
        MPI_Type_free(&type);
    }
    return file;
}

static int bytes_of(enum kind kind)
{
    return kind == SMALL_CALLS ? SMALL * SMALLS : kind == LARGE ? SPAN : SPAN / STRIDE * PIECE;
}

/* The place in the file of a byte of the access, behind the base. */
static int64_t place_of(enum kind kind, int byte)
{
    return kind < STRIDED ? byte : (int64_t)byte / PIECE * STRIDE + byte % PIECE;
}

static int move_nonblocking(MPI_File file, bool write, char *memory, int bytes, MPI_Status *status)
{
    MPI_Request request;
    const int code = write ? MPI_File_iwrite_at(file, 0, memory, bytes, MPI_BYTE, &request)
                           : MPI_File_iread_at(file, 0, memory, bytes, MPI_BYTE, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
}

/* Returns how many bytes were moved. */
static int move(MPI_File file, enum kind kind, bool write, char *memory)
{
    int done = 0, code = MPI_SUCCESS;
    for (int i = 0, step = kind == SMALL_CALLS ? SMALL : bytes_of(kind); i < bytes_of(kind); i += step) {
        const MPI_Offset offset = kind < STRIDED ? base_of(rank) + i : i;
        MPI_Status status;
        if (kind == COLLECTIVE)
            code = write ? MPI_File_write_at_all(file, offset, memory + i, step, MPI_BYTE, &status)
                         : MPI_File_read_at_all(file, offset, memory + i, step, MPI_BYTE, &status);
        else if (kind == NONBLOCKING)
            code = move_nonblocking(file, write, memory, step, &status);
        else
            code = write ? MPI_File_write_at(file, offset, memory + i, step, MPI_BYTE, &status)
                         : MPI_File_read_at(file, offset, memory + i, step, MPI_BYTE, &status);
        fine(NAMES[kind], code);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        done += count;
    }
    return done;
}

/* What was told to be written is in the file. */
static void check_written(enum kind kind, const char *memory, const char *when)
{
    struct stat facts;
    const int fd = open(path, O_RDONLY), bytes = bytes_of(kind);
    const int64_t span = place_of(kind, bytes - 1) + 1;
    memset(back, 0, sizeof back);
    fstat(fd, &facts);
    const int64_t there = pread(fd, back, (size_t)span, base_of(rank));
    close(fd);
    int wrong = 0;
    for (int i = 0; i < bytes; i++)
        wrong += place_of(kind, i) >= there || back[place_of(kind, i)] != memory[i];
    if (wrong > 0)
        complain("%s, %s: %d of %d bytes that were written are not in the file of %lld bytes", NAMES[kind], when, wrong,
                 bytes, (long long)facts.st_size);
}

/* What was read is what the file has, and no more. */
static void check_read(enum kind kind, const char *memory, int done, int64_t file_bytes, const char *when)
{
    const int fd = open(path, O_RDONLY);
    const int64_t there = pread(fd, back, SPAN, base_of(rank));
    close(fd);
    int wanted = 0, wrong = 0;
    for (int i = 0; i < bytes_of(kind); i++) {
        const int64_t place = place_of(kind, i);
        if (base_of(rank) + place >= file_bytes)
            continue;
        wanted++;
        wrong += place < there && i < done && memory[i] != back[place];
    }
    expect("bytes read", done, wanted);
    if (wrong > 0)
        complain("%s, %s: %d bytes that were read are not those of the file", NAMES[kind], when, wrong);
}

/* ---- the program's own SIGBUS ---- */

enum own { UNTOUCHED, DEFAULT, IGNORED, BLOCKED, HANDLED, BY_THREAD, RESTORED, OWNS };
static const char *const OWN_NAMES[] = {"SIGBUS untouched",       "SIGBUS reset",          "SIGBUS ignored",
                                        "SIGBUS blocked",         "own handler of SIGBUS", "SIGBUS reset by a thread",
                                        "SIGBUS set and restored"};
static volatile sig_atomic_t handled;

static void own_handler(int number)
{
    (void)number;
    handled = 1;
    signal(SIGBUS, SIG_DFL);
}

static void *reset_in_thread(void *arg)
{
    signal(SIGBUS, SIG_DFL);
    return arg;
}

struct signals {
    struct sigaction action;
    sigset_t mask;
};

static void change_signals(enum own own, struct signals *before)
{
    pthread_t thread;
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    sigaction(SIGBUS, NULL, &before->action);
    pthread_sigmask(SIG_BLOCK, own == BLOCKED ? &bus : NULL, &before->mask);
    if (own == DEFAULT || own == IGNORED)
        signal(SIGBUS, own == DEFAULT ? SIG_DFL : SIG_IGN);
    else if (own == HANDLED || own == RESTORED)
        sigaction(SIGBUS, &(struct sigaction){.sa_handler = own_handler}, NULL);
    else if (own == BY_THREAD && pthread_create(&thread, NULL, reset_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    if (own == RESTORED)
        sigaction(SIGBUS, &before->action, NULL);
}

static void restore_signals(const struct signals *before)
{
    sigaction(SIGBUS, &before->action, NULL);
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- cuts between calls ---- */

/* Behind the base of a rank: inside of the first page, of one in the middle, and all pages gone. */
static const int64_t CUTS[] = {50, (1 << 20) + 1000, -4096};
enum { CUT_COUNT = sizeof CUTS / sizeof CUTS[0] };

static void cut_for(int of_rank, int number, int64_t *ret_bytes)
{
    *ret_bytes = base_of(of_rank) + CUTS[number];
    *ret_bytes = *ret_bytes > 0 ? *ret_bytes : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == (of_rank + 1) % ranks)
        cut(*ret_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cut_case(enum kind kind, bool write, enum own own, int number)
{
    int64_t bytes;
    struct signals before;
    make_file();
    MPI_File file = open_kind(kind);
    for (int i = 0; i < WARM; i++) {
        fill(buffer, SPAN, rank + i);
        move(file, kind, write, buffer);
    }
    change_signals(own, &before);
    fill(buffer, SPAN, rank + 50);
    for (int turn = 0; turn < (kind == COLLECTIVE ? 1 : ranks); turn++) {
        cut_for(turn, number, &bytes);
        int done = 0;
        if (kind == COLLECTIVE || rank == turn)
            done = move(file, kind, write, buffer);
        if (kind == COLLECTIVE)
            MPI_Barrier(MPI_COMM_WORLD);
        if (write && (kind == COLLECTIVE || rank == turn))
            check_written(kind, buffer, OWN_NAMES[own]);
        else if (!write && rank == turn)
            check_read(kind, buffer, done, bytes, OWN_NAMES[own]);
    }
    restore_signals(&before);
    fine("close", MPI_File_close(&file));
}

static void cuts(void)
{
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (int write = 0; write < 2; write++)
            for (enum own own = 0; own < OWNS; own++)
                cut_case(kind, write, own, (int)own % CUT_COUNT);
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (int number = 0; number < CUT_COUNT; number++)
            cut_case(kind, true, UNTOUCHED, number);
    if (handled)
        complain("the program's handler of SIGBUS was called for a fault of the engine");
}

/* ---- cuts at any time ---- */

static bool is_over(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.over", path);
    int over = access(name, F_OK) == 0, all = 0;
    MPI_Allreduce(&over, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void storm(void)
{
    struct signals before;
    make_file();
    for (int round = 0; !is_over(); round++) {
        for (enum kind kind = 0; kind < KINDS; kind++) {
            MPI_File file = open_kind(kind);
            for (int i = 0; i < 2 * WARM; i++) {
                change_signals((enum own)((round + i) % OWNS), &before);
                move(file, kind, i % 4 != 3, buffer);
                restore_signals(&before);
            }
            fine("close", MPI_File_close(&file));
        }
    }
    for (enum kind kind = 0; kind < KINDS; kind++) { /* nobody cuts any more: all that is told must be there */
        MPI_File file = open_kind(kind);
        move(file, kind, true, buffer);
        move(file, kind, true, buffer);
        check_written(kind, buffer, "after the storm");
        MPI_Barrier(MPI_COMM_WORLD);
        fine("close", MPI_File_close(&file));
    }
}

/* Until FILE.over is there. */
static int cut_again_and_again(int64_t bytes)
{
    char name[4096];
    const struct timespec nap = {.tv_nsec = 300000};
    snprintf(name, sizeof name, "%s.over", path);
    srand(7);
    while (access(name, F_OK) != 0) {
        if (truncate(path, rand() % bytes) == 0 && rand() % 2)
            nanosleep(&nap, NULL);
        if (rand() % 4 && truncate(path, bytes) != 0 && errno != ENOENT)
            return 1;
        nanosleep(&nap, NULL);
    }
    return 0;
}

/* ---- the switch ---- */

static int64_t mapped_bytes(void)
{
    char line[4096];
    int64_t bytes = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long begin, end;
        if (strstr(line, path) && sscanf(line, "%llx-%llx", &begin, &end) == 2)
            bytes += (int64_t)(end - begin);
    }
    if (maps)
        fclose(maps);
    return bytes;
}

static void set_map(MPI_File file, const char *hint)
{
    MPI_Info info = info_of(hint);
    fine("set_info", MPI_File_set_info(file, info));
    MPI_Info_free(&info);
}

static int64_t number_of(MPI_File file, const char *key)
{
    return *hint_of(file, key) ? atoll(hint_of(file, key)) : -1;
}

/* Writes, and expects that the engine says what it does. */
static void check_map(MPI_File file, const char *wanted)
{
    for (int i = 0; i < WARM; i++)
        move(file, STRIDED, true, buffer);
    if (wanted && strcmp(hint_of(file, "piolet_map"), wanted) != 0)
        complain("piolet_map is '%s' in the place of '%s'", hint_of(file, "piolet_map"), wanted);
    const bool maps = strcmp(hint_of(file, "piolet_map"), "automatic") == 0;
    const int64_t share = number_of(file, "piolet_map_share"), node = number_of(file, "piolet_map_budget");
    expect("mapped", mapped_bytes() > 0, maps);
    if (mapped_bytes() > share || share * ranks > node || (node > 0) != maps)
        complain("%lld bytes are mapped, the share is %lld of %lld", (long long)mapped_bytes(), (long long)share,
                 (long long)node);
    if (rank == 0)
        printf("piolet_map %s: %s; budget %lld, share %lld\n", maps ? "automatic" : "disable",
               hint_of(file, "piolet_why_map"), (long long)node, (long long)share);
}

static void hints(void)
{
    make_file();
    MPI_File file = open_kind(STRIDED), own;
    check_map(file, NULL);
    fine("open", MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &own));
    if (number_of(own, "piolet_map_share") * ranks > number_of(own, "piolet_map_budget"))
        complain("a file of one rank has another share of the node");
    fine("close", MPI_File_close(&own));
    set_map(file, "piolet_map=disable");
    expect("mapped after the switch", mapped_bytes(), 0);
    check_map(file, "disable");
    set_map(file, "piolet_map=perhaps");
    check_map(file, "disable");
    set_map(file, "piolet_map=automatic");
    check_map(file, NULL);
    check_written(STRIDED, buffer, "hints");
    fine("close", MPI_File_close(&file));
}

/* ---- until it is killed ---- */

static void write_on(enum kind kind)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank);
    const int fd = open(name, O_CREAT | O_RDWR, 0666);
    make_file();
    MPI_File file = open_kind(kind);
    for (;;) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        move(file, kind, true, buffer);
        char text[64];
        snprintf(text, sizeof text, "%020lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
        expect("the time", pwrite(fd, text, strlen(text), 0), (int64_t)strlen(text));
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    path = argc > 2 ? argv[2] : "";
    if (strcmp(mode, "cut") == 0)
        return argc > 3 ? cut_again_and_again(atoll(argv[3])) : 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(mode, "cuts") == 0)
        cuts();
    else if (strcmp(mode, "storm") == 0)
        storm();
    else if (strcmp(mode, "hints") == 0)
        hints();
    else if (strcmp(mode, "write") == 0)
        write_on((enum kind)atoi(argv[3]));
    else
        complain("no such mode: '%s'", mode);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("%s is right\n", mode);
    MPI_Finalize();
    return all > 0;
}
