import Foundation
import Glibc

/// A second view of a folder, in which nothing can be written. Only root may mount.
package final class ReadOnlyShare: Sendable {
    private let scratch: ScratchDirectory
    package var path: String { scratch.path }

    package init(of folder: String) throws {
        scratch = try ScratchDirectory()
        guard mount(folder, scratch.path, nil, UInt(MS_BIND), nil) == 0,
            mount(nil, scratch.path, nil, UInt(MS_REMOUNT | MS_BIND | MS_RDONLY), nil) == 0
        else { throw POSIXError(.init(rawValue: errno) ?? .EPERM) }
    }

    deinit { umount2(scratch.path, CInt(MNT_DETACH)) }
}
