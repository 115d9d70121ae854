/*
 * Pictures whose coefficients come in several scans: progressive ones, and sequential ones with a scan for each
 * component. All coefficients are held until the last scan has been read.
 *
 * A step reads one row of MCUs of a scan, or what stands between two scans. There, only Huffman tables, the
 * restart interval and the header of the next scan are usual; anything else is in doubt.
 */
#ifndef DARKROOM_JPEG_WHOLE_H
#define DARKROOM_JPEG_WHOLE_H

#include "entropy.h"

enum {
    DARKROOM_WHOLE_COMPONENTS = 3,
    DARKROOM_WHOLE_TABLES = 4,
};

/* The coefficients of a component, in quads, row by row of its blocks. */
typedef struct {
    unsigned across, down;  /* blocks in an MCU of several components */
    uint32_t columns, rows; /* of blocks that hold parts of the picture */
    uint32_t stored_rows;   /* with those that fill the last MCUs */
    size_t stride;          /* blocks in a stored row: whole quads */
    /* Each block has either all coefficients or, where only means are needed, the first one. */
    int16_t *coefficients;
    int16_t *means;
    /* Which coefficients of a block are not zero, in zigzag order from the lowest bit on; without the first. */
    uint64_t *present;
} darkroom_jpeg_store;

/* One symbol, where its code has at most DARKROOM_LOOKUP_BITS bits. */
typedef struct {
    uint8_t code_bits; /* 0 if it has more, or there is none */
    uint8_t run;       /* zeros before the value */
    uint8_t size;      /* bits of the value; 0 for a run of zeros or of ended blocks */
} darkroom_jpeg_symbol;

typedef struct {
    bool is_given, is_made;
    uint8_t counts[17], symbols[256];
    darkroom_jpeg_codes codes;
    darkroom_jpeg_symbol lookups[DARKROOM_LOOKUP_SIZE];
} darkroom_jpeg_scan_table;

typedef enum {
    DARKROOM_SCAN_SEQUENTIAL,
    DARKROOM_SCAN_FIRST_MEANS,
    DARKROOM_SCAN_FINER_MEANS,
    DARKROOM_SCAN_FIRST_REST,
    DARKROOM_SCAN_FINER_REST,
} darkroom_jpeg_scan_kind;

/* The reading of a scan: what changes with each block. */
typedef struct {
    uint64_t bits;
    unsigned bit_count;
    const uint8_t *at;
    const uint8_t *limit; /* a block that begins before it is in the window, or is read into its padding */
    uint32_t ended;       /* how many of the following blocks have no more symbols */
    bool is_doubtful;
} darkroom_jpeg_reading;

/* A component of the present scan. */
typedef struct {
    darkroom_jpeg_store *store;
    const darkroom_jpeg_scan_table *dc, *ac;
    int32_t mean;         /* the last one */
    int32_t largest_mean; /* which the bits of later scans may still enlarge */
    /* The most bits of a new value at each position, in zigzag order. */
    uint8_t most_bits[64];
} darkroom_jpeg_scan_part;

typedef struct {
    darkroom_jpeg_window *window;
    bool is_progressive, is_complete;
    uint32_t picture_mcu_rows, picture_mcus_in_row;
    unsigned component_count;
    uint8_t ids[DARKROOM_WHOLE_COMPONENTS];
    darkroom_jpeg_store stores[DARKROOM_WHOLE_COMPONENTS];
    int32_t largest_means[DARKROOM_WHOLE_COMPONENTS];
    uint8_t most_bits[DARKROOM_WHOLE_COMPONENTS][64];
    /* How many low bits of each coefficient are still to come; -1 if no scan has had it. */
    int8_t bits_to_come[DARKROOM_WHOLE_COMPONENTS][64];
    darkroom_jpeg_scan_table tables[2][DARKROOM_WHOLE_TABLES]; /* for DC and AC */
    uint32_t restart_interval;
    unsigned scan_count;

    /* The present scan. */
    darkroom_jpeg_scan_kind kind;
    unsigned part_count;
    darkroom_jpeg_scan_part parts[DARKROOM_WHOLE_COMPONENTS];
    unsigned first, last; /* its coefficients, in zigzag order */
    unsigned low;         /* how many low bits its values lack */
    uint32_t mcu_rows, mcus_in_row, row;
    uint32_t left_in_interval;
    unsigned next_restart;
    darkroom_jpeg_reading reading;

    void *memory;
    size_t mapped_bytes; /* of it; 0 if it is from malloc */
} darkroom_jpeg_whole;

/* NULL if the picture or its first scan is not a usual one, or there is no memory. `needs_rest` tells for each
 * component whether other coefficients than the first ones are used. */
darkroom_jpeg_whole *darkroom_jpeg_whole_new(
    const darkroom_jpeg_picture *picture, const bool *needs_rest, darkroom_jpeg_window *window);
void darkroom_jpeg_whole_free(darkroom_jpeg_whole *whole);

/* Reads a part of the data. Sets `is_complete` at the end of the picture. Returns false on doubt. */
bool darkroom_jpeg_whole_step(darkroom_jpeg_whole *whole);

/* ---- For the parts of this code ---- */

/* Begins to read at the start of the window. */
void darkroom_jpeg_reading_start(darkroom_jpeg_whole *whole);

/* Makes sure that the next block can be read. Returns false on doubt. */
bool darkroom_jpeg_reading_fill(darkroom_jpeg_whole *whole);

/* Reads the next MCUs of a row from `column` on. Returns false on doubt. */
bool darkroom_jpeg_whole_read(darkroom_jpeg_whole *whole, uint32_t column, uint32_t count);

/* The same for the coefficients but the means, of one component. */
bool darkroom_jpeg_whole_read_rest(darkroom_jpeg_whole *whole, uint32_t column, uint32_t count);

/* The symbol at the beginning of `bits`, whatever the length of its code; none has no bits. */
darkroom_jpeg_symbol darkroom_jpeg_symbol_find(const darkroom_jpeg_scan_table *table, uint64_t bits);

/* Begins a scan with this header. Returns false on doubt. */
bool darkroom_jpeg_whole_begin(darkroom_jpeg_whole *whole, const darkroom_jpeg_scan_header *header);

#endif
