import DarkroomCore
import Foundation
import Glibc

/// The process that holds the lock of a spool, by `/proc/locks`.
///
/// Nobody has to try the lock for this, which could keep a starting daemon out.
enum LockHolder: Equatable {
    /// A process of this machine; nil if it is in another namespace of processes, so that its number is unknown here.
    case process(pid_t?)
    case nobody
    /// This system does not show its locks.
    case unknown

    /// The number of readings after which a lock that was in none of them does not exist. The kernel gives the file
    /// page by page, and while other locks come and go, an entry between two pages may be lost.
    private static let readings = 3
    /// The number of readings while the process that wrote the last report exists.
    private static let readingsOfLiving = 30

    init(of spool: SpoolFolder, reportedBy process: Int32?) {
        let isAlive = process.map { Self.isOfOwner($0, of: spool) } ?? false
        self.init(
            in: spool.root, reportedBy: process,
            readings: isAlive ? Self.readingsOfLiving : Self.readings)
    }

    init(in root: Directory, reportedBy process: Int32? = nil, readings: Int = Self.readings) {
        self = .nobody
        guard let file = try? root.information(of: "lock") else { return }
        for _ in 0..<readings where self == .nobody {
            guard let locks = WholeFile.kernelText("/proc/locks") else {
                self = .unknown
                return
            }
            self.init(locks, file: file, reportedBy: process)
        }
    }

    /// Whether there is a process with this number, of the user who owns the lock. The number may be that of a report,
    /// which comes from the owner of the spool.
    static func isOfOwner(_ process: pid_t, of spool: SpoolFolder) -> Bool {
        guard let information = stat(path: "/proc/\(process)"),
            let lock = try? spool.root.information(of: "lock")
        else { return false }
        return information.st_uid == lock.st_uid
    }

    init(_ locks: String, file: stat, reportedBy process: Int32?) {
        for line in locks.split(separator: "\n") {
            // "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK" else { continue }
            let place = fields[5].split(separator: ":")
            guard place.count == 3, place[2] == "\(file.st_ino)" else { continue }
            // Some file systems (Btrfs, overlays) show another device here than in stat(2).
            let isSameDevice =
                Int(place[0], radix: 16) == Self.major(file.st_dev)
                && Int(place[1], radix: 16) == Self.minor(file.st_dev)
            guard isSameDevice || process.map({ fields[4] == "\($0)" }) ?? false else { continue }
            self = .process(pid_t(fields[4]).flatMap { $0 > 0 ? $0 : nil })
            return
        }
        self = .nobody
    }

    /// As in makedev(3).
    private static func major(_ device: dev_t) -> Int {
        Int((device >> 8) & 0xFFF | (device >> 32) & ~0xFFF)
    }

    private static func minor(_ device: dev_t) -> Int {
        Int(device & 0xFF | (device >> 12) & ~0xFF)
    }
}
