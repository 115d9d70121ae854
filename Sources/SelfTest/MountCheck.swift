import CDarkroomShims
import DarkroomCore
import DarkroomDaemon
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// A finding about the spool's file system.
package enum Finding: Sendable, Equatable {
    case ok(String)
    /// Not a problem, but useful to know.
    case note(String)
    /// - Parameter consequence: the end of the sentence "so darkroomd will …".
    case problem(String, consequence: String)

    package var isProblem: Bool {
        if case .problem = self { true } else { false }
    }
}

/// Tests, in a separate folder on the spool's file system, the behaviour on which Darkroom's guarantee depends.
struct MountCheck {
    /// The self-test's folder.
    let folder: Directory

    /// All checks, in their order. Each leaves the folder unchanged.
    func findings() -> [Finding] {
        let checks: [() throws(FileError) -> Finding] = [
            kind, renaming, renamingWithoutReplacing, naming, syncing, locking, events, names,
            clock,
        ]
        return checks.map { check in
            do throws(FileError) {
                return try check()
            } catch {
                return .problem(error.message, consequence: "fail in the same way")
            }
        }
    }

    // MARK: The kind

    /// By the numbers in statfs(2) and linux/magic.h.
    private static let kinds: [Int64: String] = [
        0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0xF2F5_2010: "f2fs",
        0x2FC1_2FC1: "zfs", 0x0102_1994: "tmpfs", 0x794C_7630: "overlayfs", 0x6969: "NFS",
        0x6573_5546: "FUSE", 0xFF53_4D42: "SMB", 0xFE53_4D42: "SMB", 0x0102_1997: "9P",
        0x4D44: "vfat", 0x2011_BAB0: "exfat",
    ]

    private func kind() -> Finding {
        let number = darkroom_filesystem_type(folder.number)
        let kind = Self.kinds[number] ?? "of the type 0x" + String(number, radix: 16)
        return kind == "tmpfs"
            ? .note("the file system is tmpfs: its files do not survive a power cut")
            : .ok("the file system is \(kind)")
    }

    // MARK: Renames

    /// A reader that opens the name repeatedly must always find one of the two complete files.
    private func renaming() throws(FileError) -> Finding {
        let contents = [UInt8(ascii: "a"), UInt8(ascii: "b")].map {
            [UInt8](repeating: $0, count: 4096)
        }
        try folder.write(contents[0], to: "target", durably: false)
        defer { try? folder.remove("target") }
        let stopped = Atomic(false)
        let torn = Atomic(0)
        let looks = Atomic(0)
        let reader = DispatchGroup()
        DispatchQueue.global().async(group: reader) { [folder] in
            while !stopped.load(ordering: .acquiring) {
                let bytes = try? folder.read("target")
                looks.add(1, ordering: .relaxed)
                if bytes == nil || !contents.contains(bytes ?? []) {
                    torn.add(1, ordering: .relaxed)
                }
            }
        }
        defer {
            stopped.store(true, ordering: .releasing)
            reader.wait()
        }
        for turn in 1...200 {
            try folder.write(contents[turn % 2], to: "new", durably: false)
            try folder.rename("new", to: folder, as: "target", replacing: true)
        }
        let count = torn.load(ordering: .relaxed)
        return count == 0
            ? .ok("a rename replaces a file in one step")
            : .problem(
                "a rename does not replace a file in one step: \(count) of "
                    + "\(looks.load(ordering: .relaxed)) reads found no file or an incomplete one",
                consequence: "show incomplete status files to their readers")
    }

    private func renamingWithoutReplacing() throws(FileError) -> Finding {
        let consequence = "not be able to take manifests or to publish pictures here"
        try folder.write([1], to: "one", durably: false)
        try folder.write([2], to: "two", durably: false)
        defer {
            for name: FileName in ["one", "two", "three"] { try? folder.remove(name) }
        }
        do {
            try folder.rename("one", to: folder, as: "two")
            return .problem(
                "a rename that must not replace a file replaced it", consequence: consequence)
        } catch  where error.errno == .fileExists {
            // This is the expected result.
        } catch {
            return .problem(
                "renameat2 with RENAME_NOREPLACE: \(error.errno)", consequence: consequence)
        }
        try folder.rename("one", to: folder, as: "three")
        guard try folder.read("two") == [2], try folder.read("three") == [1] else {
            return .problem(
                "a rename that must not replace a file lost one", consequence: consequence)
        }
        return .ok("no file is lost where a name is taken")
    }

    /// What gives files their names (`Directory.publish`).
    private func naming() throws(FileError) -> Finding {
        try folder.write([1], to: "one", durably: false)
        defer { for name: FileName in ["one", "two"] { try? folder.remove(name) } }
        var (link, refusal): (Errno?, Errno?) = (nil, nil)
        do {
            try folder.link("one", to: folder, as: "two")
            try folder.remove("two")
        } catch  where Directory.mayLackLinks(error.errno) {
            link = error.errno
        }
        if darkroom_rename_noreplace(folder.number, "one", folder.number, "two") != 0 {
            refusal = Errno(rawValue: errno)
        }
        return Self.naming(link: link, refusal: refusal)
    }

    /// - Parameters:
    ///   - link: the error of a hard link; nil if the file system has them.
    ///   - refusal: the same for a rename that refuses to replace a file.
    static func naming(link: Errno?, refusal: Errno?) -> Finding {
        switch (link, refusal) {
        case (nil, nil):
            .ok(
                "there are hard links, and renames that refuse to replace a file (RENAME_NOREPLACE)"
            )
        case (nil, let error?):
            .note(
                "no rename can refuse to replace a file (RENAME_NOREPLACE: \(error)): files get their names by hard "
                    + "links, and a kill may leave a file with both names, of which the next start removes one"
            )
        case (let error?, nil):
            .note(
                "there are no hard links (\(error)): files get their names by renames that refuse to replace (RENAME_NOREPLACE); "
                    + "each shard of a run has a copy of the manifest of its own")
        case (let link?, let refusal?):
            .note(
                "there are neither hard links (\(link)) nor renames that refuse to replace a file (RENAME_NOREPLACE: "
                    + "\(refusal)): a client that is killed while it gives a file its name in the inbox may leave an empty "
                    + "file there, which is rejected; and shards that begin at the same moment agree only as far as "
                    + "files are created exclusively (O_EXCL)")
        }
    }

    // MARK: The disk

    private func syncing() throws(FileError) -> Finding {
        var files: [UInt64] = []
        var folders: [UInt64] = []
        for turn in 0..<15 {
            let name: FileName = "synced-\(turn)"
            let file = try folder.create(name)
            defer { try? folder.remove(name) }
            try file.write([UInt8](repeating: 7, count: 8192), path: folder.path(of: name))
            let begin = Clock.nanoseconds
            try file.sync(path: folder.path(of: name))
            let middle = Clock.nanoseconds
            try folder.sync()
            files.append(middle - begin)
            folders.append(Clock.nanoseconds - middle)
        }
        return .ok(
            "fsync works: a file takes \(Self.median(files)) ms, a folder \(Self.median(folders)) ms"
                + " (medians of \(files.count))")
    }

    /// In milliseconds, with two decimal places.
    private static func median(_ nanoseconds: [UInt64]) -> String {
        let hundredths = nanoseconds.sorted()[nanoseconds.count / 2] / 10_000
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private func locking() throws(FileError) -> Finding {
        try folder.write([], to: "lock", durably: false)
        defer { try? folder.remove("lock") }
        // A lock belongs to the open file description. So a second one stands for a second process.
        let first = try folder.open("lock")
        let second = try folder.open("lock")
        guard flock(first.number, LOCK_EX | LOCK_NB) == 0 else {
            throw FileError(.lock, folder.path(of: "lock"), Errno(rawValue: errno))
        }
        return flock(second.number, LOCK_EX | LOCK_NB) != 0
            ? .ok("flock excludes a second daemon")
            : .problem(
                "flock gives the same lock twice",
                consequence: "not notice a second daemon on the same spool; never start one")
    }

    // MARK: Events

    private func events() throws(FileError) -> Finding {
        let consequence = "scan the inbox every inbox.poll (2 s) instead"
        try folder.makeDirectory("watched")
        defer { try? folder.removeTree("watched") }
        let watched = try Directory("watched", in: folder)
        let seen = Mutex<[InboxEvent]>([])
        let watch: InboxWatch
        do {
            watch = try InboxWatch(
                folder: watched, named: "watched", in: folder,
                queue: DispatchQueue(label: "darkroom.self-test.events")
            ) { events in seen.withLock { $0 += events } }
        } catch {
            return .problem(error.message, consequence: consequence)
        }
        defer { withExtendedLifetime(watch) {} }
        try folder.write([1], to: "moved", durably: false)
        try watched.write([1], to: "closed", durably: false)
        try folder.rename("moved", to: watched, as: "moved")
        let wanted: [InboxEvent] = [.closed("closed"), .moved("moved")]
        let deadline = Clock.nanoseconds + 20_000_000_000
        while !wanted.allSatisfy(seen.withLock { $0 }.contains) {
            guard Clock.nanoseconds < deadline else {
                return .problem(
                    "inotify does not report files that are closed or renamed",
                    consequence: consequence)
            }
            usleep(1000)
        }
        return .ok("inotify reports files that are closed and renamed")
    }

    // MARK: Names

    /// Names of 200 bytes, the maximum for the ID of a manifest and the name of an output. A suffix follows them.
    static let longNames: [String] = ["a", "é", "e\u{301}", "ж", "写", "ص", "😀", "a\u{200d}"].map {
        String(repeating: $0, count: 200 / $0.utf8.count)
            + String(repeating: "x", count: 200 % $0.utf8.count)
    }

    private func names() throws(FileError) -> Finding {
        let consequence = "lose files with such names"
        try folder.makeDirectory("names")
        defer { try? folder.removeTree("names") }
        let names = try Directory("names", in: folder)
        for text in Self.longNames {
            let name = FileName("\(text)-12345.json")
            do {
                try names.write([1], to: name, durably: false)
            } catch  where error.errno.storageFailure != nil {
                // The error is not about the name.
                throw error
            } catch {
                let begin = text.prefix(1)
                return .problem(
                    "a name of \(name.bytes.count) bytes (\(begin)\(begin)…) is refused: \(error.errno)",
                    consequence: "fail with such long names; use names of at most 100 bytes")
            }
        }
        let found = Set(try names.names())
        let wanted = Set(Self.longNames.map { FileName("\($0)-12345.json") })
        return found == wanted
            ? .ok("names of 200 bytes keep their bytes, in several scripts")
            : .problem("names of files do not keep their bytes", consequence: consequence)
    }

    // MARK: The clock

    private func clock() throws(FileError) -> Finding {
        try folder.write([1], to: "now", durably: false)
        defer { try? folder.remove("now") }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let written = try folder.information(of: "now")?.st_mtim.tv_sec ?? 0
        let apart = now.tv_sec.saturatingSubtract(written).magnitude
        // 2024-01-01. Without a battery, a machine's clock starts in 1970 or at the build time of its system.
        if now.tv_sec < 1_704_067_200 {
            return .problem(
                "the clock shows \(Clock.timestamp)", consequence: "write wrong times into statuses"
            )
        }
        return apart <= 2
            ? .ok("the clock and the times of files agree")
            : .problem(
                "the times of files differ from the clock by \(apart) s",
                consequence: "take manifests in a wrong order")
    }
}
