#include "bench/beff/beff_data.h"

#include "base/rng.h"

enum { PLACES = 8 };

static int64_t place_of(const struct beff_message *message, int i)
{
    if (i < 2)
        return i == 0 ? 0 : message->length - 1;
    return (int64_t)(rng_at(message->serial, (uint64_t)i) % (uint64_t)message->length);
}

static unsigned char byte_of(const struct beff_message *message, int64_t place)
{
    const uint64_t who = ((uint64_t)message->sender << 8) | (uint64_t)message->link;
    return (unsigned char)rng_at(rng_at(message->serial, who), (uint64_t)place);
}

void beff_data_fill(const struct beff_message *message, char *buffer)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = place_of(message, i);
        buffer[place] = (char)byte_of(message, place);
    }
}

void beff_data_spoil(const struct beff_message *message, char *buffer)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = place_of(message, i);
        buffer[place] = (char)~byte_of(message, place);
    }
}

pl_status beff_data_check(const struct beff_message *message, const char *buffer, struct pl_error *error)
{
    for (int i = 0; i < PLACES; i++) {
        const int64_t place = place_of(message, i);
        const unsigned char expected = byte_of(message, place), found = (unsigned char)buffer[place];
        if (found != expected)
            return pl_fail(error, PL_E_DATA,
                           "byte %lld of %lld of the message from rank %d (link %d) is 0x%02x in the place of 0x%02x",
                           (long long)place, (long long)message->length, message->sender, message->link, found,
                           expected);
    }
    return PL_OK;
}
