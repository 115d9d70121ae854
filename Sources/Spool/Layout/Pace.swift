import DarkroomCore
import Glibc

/// Pauses for as long as the disk was used, so that others can use it.
struct Pace {
    private var begin = Clock.nanoseconds

    mutating func step() {
        let spent = Clock.nanoseconds - begin
        guard spent > 10_000_000 else { return }
        usleep(UInt32(min(spent / 1000, 50_000)))
        begin = Clock.nanoseconds
    }
}
