import Foundation
import Synchronization

/// A pseudo-terminal of the kernel: a program's terminal on one side, its keys and its screen on the other.
package final class PseudoTerminal: Sendable {
    private let keyboard: CInt
    /// The side of the program. It stays open here, so that the screen does not end with the program.
    private let screen: CInt
    package let path: String
    private let shown = Mutex("")

    package init(width: Int, height: Int) throws {
        // pts(4). Swift's module of glibc has neither posix_openpt nor these two numbers.
        let unlock: UInt = 0x4004_5431
        let getNumber: UInt = 0x8004_5430
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var zero: CInt = 0
        var number: CInt = 0
        guard terminal >= 0, ioctl(terminal, unlock, &zero) == 0,
            ioctl(terminal, getNumber, &number) == 0
        else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        keyboard = terminal
        path = "/dev/pts/\(number)"
        screen = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard screen >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        _ = fcntl(terminal, F_SETFL, O_NONBLOCK)
        resize(width: width, height: height)
    }

    deinit {
        close(keyboard)
        close(screen)
    }

    /// Changes the size; the programs on it get SIGWINCH.
    package func resize(width: Int, height: Int) {
        var size = winsize(
            ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }

    /// Types keys.
    package func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(keyboard, bytes, bytes.count)
    }

    /// Everything that was written so far.
    package var text: String {
        shown.withLock { text in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(keyboard, &buffer, buffer.count)
                guard count > 0 else { return text }
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
        }
    }
}
