#include "kept_codes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_KEPT = 16, /* 280 KiB; a picture has up to three */
    COUNTS = DARKROOM_LONGEST_CODE,
    SYMBOLS = 256,
};

/* What decides the tables. */
typedef struct {
    uint8_t counts[2][COUNTS] /* of codes of 1 to 16 bits */, symbols[2][SYMBOLS];
    bool skips;
} codes_key;

typedef struct {
    darkroom_jpeg_block_codes codes; /* the first member, so that a pointer to it leads here */
    codes_key key;
    unsigned users;
    uint64_t last_lent;
    bool is_kept;
} entry;

/* The lock protects all that follows, and of each entry what changes after it was made. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *kept[MOST_KEPT];
static uint64_t lent;

static bool has_key(const entry *e, const darkroom_jpeg_given_codes *given)
{
    const codes_key *key = &e->key;
    return key->skips == given->skips && memcmp(key->counts[0], given->dc_counts + 1, COUNTS) == 0
           && memcmp(key->counts[1], given->ac_counts + 1, COUNTS) == 0
           && memcmp(key->symbols[0], given->dc_symbols, SYMBOLS) == 0
           && memcmp(key->symbols[1], given->ac_symbols, SYMBOLS) == 0;
}

/* With the lock. NULL if no kept entry has these codes. */
static entry *lend_kept(const darkroom_jpeg_given_codes *given)
{
    for (unsigned i = 0; i < MOST_KEPT; i++)
        if (kept[i] != NULL && has_key(kept[i], given)) {
            kept[i]->users++;
            kept[i]->last_lent = ++lent;
            return kept[i];
        }
    return NULL;
}

static entry *made(const darkroom_jpeg_given_codes *given)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(entry)) != 0)
        return NULL;
    entry *e = memory;
    memset(&e->key, 0, sizeof e->key);
    memcpy(e->key.counts[0], given->dc_counts + 1, COUNTS);
    memcpy(e->key.counts[1], given->ac_counts + 1, COUNTS);
    memcpy(e->key.symbols[0], given->dc_symbols, SYMBOLS);
    memcpy(e->key.symbols[1], given->ac_symbols, SYMBOLS);
    e->key.skips = e->codes.skips = given->skips;
    e->users = 1;
    e->last_lent = 0;
    e->is_kept = false;
    if (!darkroom_jpeg_codes_make(&e->codes.dc, given->dc_counts, given->dc_symbols, true)
        || !darkroom_jpeg_codes_make(&e->codes.ac, given->ac_counts, given->ac_symbols, false)) {
        free(e);
        return NULL;
    }
    darkroom_jpeg_block_codes_fill(&e->codes);
    return e;
}

/* With the lock. Keeps an entry in the place of the one that nobody has and that was lent least recently, which is
 * returned. If all are in use, it is not kept. */
static entry *keep(entry *e)
{
    unsigned place = MOST_KEPT;
    for (unsigned i = 0; i < MOST_KEPT; i++) {
        if (kept[i] == NULL) {
            place = i;
            break;
        }
        if (kept[i]->users == 0
            && (place == MOST_KEPT || kept[i]->last_lent < kept[place]->last_lent))
            place = i;
    }
    if (place == MOST_KEPT)
        return NULL;
    entry *replaced = kept[place];
    kept[place] = e;
    e->is_kept = true;
    e->last_lent = ++lent;
    return replaced;
}

const darkroom_jpeg_block_codes *darkroom_jpeg_kept_codes_lend(const darkroom_jpeg_given_codes *given)
{
    pthread_mutex_lock(&lock);
    entry *found = lend_kept(given);
    pthread_mutex_unlock(&lock);
    if (found != NULL)
        return &found->codes;
    /* Without the lock: others do not wait for this. */
    entry *e = made(given);
    if (e == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    /* Another thread may have made the same in the meantime. */
    found = lend_kept(given);
    entry *unneeded = found != NULL ? e : keep(e);
    pthread_mutex_unlock(&lock);
    free(unneeded);
    return found != NULL ? &found->codes : &e->codes;
}

void darkroom_jpeg_kept_codes_return(const darkroom_jpeg_block_codes *codes)
{
    if (codes == NULL)
        return;
    entry *e = (entry *)(uintptr_t)codes;
    pthread_mutex_lock(&lock);
    const bool is_last = --e->users == 0 && !e->is_kept;
    pthread_mutex_unlock(&lock);
    if (is_last)
        free(e);
}
