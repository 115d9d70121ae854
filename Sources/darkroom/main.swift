import CDarkroomEntry
import DarkroomDaemonCommand

// One program with two names: Swift's libraries are linked into it, and each program would have its own copy.
if darkroom_entry_is_daemon() {
    DaemonProgram.start()
} else {
    DarkroomCommand.start()
}
