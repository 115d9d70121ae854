import Glibc
import SystemPackage

/// The streams that a process gets from its parent. The parent may have made them non-blocking, for itself and all who
/// share them. So this waits where a blocking stream would.
package enum StandardStream {
    /// Writes all bytes.
    ///
    /// - Returns: why not all could be written.
    package static func write(_ bytes: [UInt8], to number: CInt) -> Errno? {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(Errno) {
                let count = try waiting(for: POLLOUT, of: number) {
                    rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(count)
            } catch {
                return error
            }
        }
        return nil
    }

    /// Runs a call that reads or writes, again whenever it has been interrupted or the stream is not ready.
    static func waiting(for events: CInt, of number: CInt, _ call: () -> Int) throws(Errno) -> Int {
        while true {
            do {
                return try retryingInterrupts(call)
            } catch {
                guard error == .wouldBlock || error == .resourceTemporarilyUnavailable else {
                    throw error
                }
                // After an error of the stream, poll(2) returns, too, and the call says which one it is.
                var entry = pollfd(fd: number, events: Int16(events), revents: 0)
                poll(&entry, 1, -1)
            }
        }
    }
}
