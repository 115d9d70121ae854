#ifndef DARKROOM_CSYSTEMD_SHIM_H
#define DARKROOM_CSYSTEMD_SHIM_H

/* sd_journal_send and sd_notifyf are variadic and cannot be called from Swift. sd_journal_sendv and sd_notify
 * can, so this header needs no code of its own. The location macros are suppressed: the log handler sends
 * CODE_FILE and the others as fields. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#endif
