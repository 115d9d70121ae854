#include "png_kept.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* The second byte of a zlib stream (RFC 1950, 2.2): its highest bits are the level. */
    LEVEL_SHIFT = 6,
    DEFAULT_LEVEL = 2,
    /* The first byte of deflate with a window of 32 KiB. */
    LARGEST_WINDOW = 0x78,
};

void darkroom_png_kept_start(darkroom_png_kept *kept)
{
    pthread_mutex_init(&kept->lock, NULL);
}

void darkroom_png_kept_free(darkroom_png_kept *kept)
{
    free(kept->bytes);
    pthread_mutex_destroy(&kept->lock);
}

bool darkroom_png_is_compressed_well(const uint8_t *bytes, size_t count)
{
    return count >= 2 && bytes[1] >> LEVEL_SHIFT >= DEFAULT_LEVEL;
}

/* Some encoders declare a smaller window than they use, which not every decoder forgives. The two bytes are a
 * multiple of 31. */
static void declare_largest_window(uint8_t *head)
{
    head[0] = LARGEST_WINDOW;
    head[1] &= 0xe0;
    head[1] |= (uint8_t)((31 - (head[0] << 8 | head[1]) % 31) % 31);
}

bool darkroom_png_kept_add(darkroom_png_kept *kept, const uint8_t *bytes, size_t count)
{
    bool is_added = true;
    pthread_mutex_lock(&kept->lock);
    if (kept->room - kept->count < count) {
        const size_t room = 2 * kept->room + count;
        uint8_t *more = realloc(kept->bytes, room);
        is_added = more != NULL;
        if (is_added) {
            kept->bytes = more;
            kept->room = room;
        }
    }
    if (is_added) {
        memcpy(kept->bytes + kept->count, bytes, count);
        if (!kept->has_begun && count >= 2)
            declare_largest_window(kept->bytes);
        kept->has_begun = true;
        kept->count += count;
    }
    pthread_mutex_unlock(&kept->lock);
    return is_added;
}

size_t darkroom_png_kept_take(darkroom_png_kept *kept, uint8_t *to, size_t count, bool is_end)
{
    pthread_mutex_lock(&kept->lock);
    size_t taken = kept->count < count ? kept->count : count;
    if (taken < count && !is_end)
        taken = 0;
    if (taken > 0) {
        memcpy(to, kept->bytes, taken);
        kept->count -= taken;
        memmove(kept->bytes, kept->bytes + taken, kept->count);
    }
    pthread_mutex_unlock(&kept->lock);
    return taken;
}
