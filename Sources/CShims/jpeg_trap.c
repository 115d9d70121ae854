#include "jpeg_trap.h"

#include <string.h>

static darkroom_jpeg_result classify(int code, darkroom_jpeg_result phase)
{
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return DARKROOM_JPEG_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
    case JERR_NO_BACKING_STORE: /* more than max_memory_to_use */
        return DARKROOM_JPEG_LIMIT;
    default:
        return darkroom_jpeg_remark_class(code) == DARKROOM_OTHER_FORMAT ? DARKROOM_JPEG_UNSUPPORTED
                                                                        : phase;
    }
}

static void words(j_common_ptr info, char text[DARKROOM_JPEG_MESSAGE_BYTES])
{
    char own[JMSG_LENGTH_MAX] = {0};
    info->err->format_message(info, own);
    snprintf(text, DARKROOM_JPEG_MESSAGE_BYTES, "%s (libjpeg)", own);
}

_Noreturn static void fail_in_its_words(j_common_ptr info, darkroom_jpeg_result result)
{
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    char text[DARKROOM_JPEG_MESSAGE_BYTES];
    words(info, text);
    /* What libjpeg finds behind the end of the file follows from it. */
    if (trap->is_short && result == trap->phase)
        darkroom_jpeg_fail(trap, DARKROOM_JPEG_TRUNCATED, SHORT_WORDS);
    darkroom_jpeg_fail(trap, result, text);
}

/* ---- libjpeg's callbacks ---- */

static void error_exit(j_common_ptr info)
{
    const darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    fail_in_its_words(info, classify(info->err->msg_code, trap->phase));
}

/* Traces have a level from 0, warnings −1. After damage libjpeg continues, with gray or with the meaning of
 * misread codes, and calls this a warning. The table in remarks.c says which are harmless. */
static void emit_message(j_common_ptr info, int level)
{
    if (level >= 0)
        return;
    darkroom_jpeg_trap *trap = (darkroom_jpeg_trap *)info->err;
    const int code = info->err->msg_code;
    const darkroom_remark_class kind = trap->judge != NULL
        ? trap->judge(info, trap->context)
        : darkroom_jpeg_remark_class(code);
    char text[DARKROOM_JPEG_MESSAGE_BYTES];
    words(info, text);
    if (kind == DARKROOM_HARMLESS) {
        /* The reader counts these, and says how many there were in all. */
        if (code != JWRN_EXTRANEOUS_DATA)
            darkroom_jpeg_remark(trap, text);
    } else if (trap->keeps_damaged && trap->phase == DARKROOM_JPEG_DATA) {
        darkroom_jpeg_damaged(trap, trap->is_short ? SHORT_WORDS : text);
    } else {
        fail_in_its_words(info, trap->phase);
    }
}

static void output_message(j_common_ptr info)
{
    /* Would print to standard error. */
    (void)info;
}

/* ---- Our side ---- */

struct jpeg_error_mgr *darkroom_jpeg_trap_start(darkroom_jpeg_trap *trap)
{
    jpeg_std_error(&trap->manager);
    trap->manager.error_exit = error_exit;
    trap->manager.emit_message = emit_message;
    trap->manager.output_message = output_message;
    trap->phase = DARKROOM_JPEG_HEADER;
    return &trap->manager;
}

darkroom_jpeg_result darkroom_jpeg_note(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message)
{
    trap->result = result;
    snprintf(trap->message, sizeof trap->message, "%s", message);
    return result;
}

void darkroom_jpeg_fail(
    darkroom_jpeg_trap *trap, darkroom_jpeg_result result, const char *message)
{
    darkroom_jpeg_note(trap, result, message);
    longjmp(trap->jump, 1);
}

void darkroom_jpeg_damaged(darkroom_jpeg_trap *trap, const char *message)
{
    if (trap->is_damaged)
        return;
    trap->is_damaged = true;
    snprintf(trap->damage, sizeof trap->damage, "%s", message);
}

void darkroom_jpeg_remark(darkroom_jpeg_trap *trap, const char *message)
{
    if (trap->warning_count == DARKROOM_JPEG_WARNINGS)
        return;
    char *slot = trap->warnings[trap->warning_count];
    snprintf(slot, DARKROOM_JPEG_MESSAGE_BYTES, "%s", message);
    for (size_t i = 0; i < trap->warning_count; i++)
        if (strcmp(trap->warnings[i], slot) == 0)
            return;
    trap->warning_count++;
}
