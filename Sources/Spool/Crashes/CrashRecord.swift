import CDarkroomShims
import DarkroomAnswer

/// One record of `spool/attempts`: a picture that is being filtered, or was being filtered when the process ended.
///
/// It has 512 bytes of text: a mark of 16 bytes, which a crash overwrites, then the fields, each followed by a space,
/// with the batch's ID as the last field and a newline, then spaces and a newline, so that `cat` can show the file.
///
///     SIGSEGV         0b1e… 17 0 1795248000 holiday
struct CrashRecord: Equatable, Sendable {
    static let length = Int(DARKROOM_CRASH_RECORD)
    static let markLength = Int(DARKROOM_CRASH_MARK)
    static let free = padded("free".utf8, to: markLength)

    /// nil while no crash has written to it: the picture is still being filtered, or something else ended the process.
    var cause: CrashCause?
    /// The boot of the machine during which it was written.
    let boot: String
    let batch: String
    let image: Int
    /// The number of crashes of this image in the batch's journal.
    let before: Int
    /// The time, in seconds since 1970.
    let begun: Int

    private static let running = "running"

    var mark: [UInt8] { Self.padded((cause?.rawValue ?? Self.running).utf8, to: Self.markLength) }

    /// The bytes in the file. An ID that does not fit is cut, and then refers to no batch.
    var bytes: [UInt8] {
        var bytes = mark
        bytes += "\(Self.field(boot)) \(image) \(before) \(begun) \(batch)".utf8.prefix(
            Self.length - Self.markLength - 2)
        return Self.padded(bytes + [UInt8(ascii: "\n")], to: Self.length - 1) + [UInt8(ascii: "\n")]
    }

    /// The text of a field that may be empty.
    static func field(_ text: String) -> String { text.isEmpty ? "-" : text }

    static func padded(_ text: some Sequence<UInt8>, to length: Int) -> [UInt8] {
        let bytes = Array(text.prefix(length))
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: length - bytes.count)
    }
}

extension CrashRecord {
    /// Reads a record; nil if it is unused, damaged, or not written by Darkroom.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        let mark = String(
            decoding: bytes.prefix(Self.markLength).prefix { $0 != UInt8(ascii: " ") },
            as: UTF8.self)
        let cause = CrashCause(rawValue: mark)
        guard cause != nil || mark == Self.running,
            let text = bytes.dropFirst(Self.markLength).split(separator: UInt8(ascii: "\n")).first
        else { return nil }
        let fields = text.split(
            separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 5, let image = Int(fields[1]), let before = Int(fields[2]),
            let begun = Int(fields[3]), image >= 0, (0...1 << 30).contains(before),
            !fields[4].isEmpty
        else { return nil }
        self.init(
            cause: cause, boot: fields[0] == "-" ? "" : fields[0], batch: fields[4], image: image,
            before: before, begun: begun)
    }
}

/// The first record of `spool/attempts`: the process that writes the file.
struct ProcessRecord: Equatable, Sendable {
    let boot: String
    /// The number of processes that the kernel had killed for lack of memory when the process began, by control group.
    let outOfMemoryKills: [String: Int]

    private static let mark = "process"

    /// A line `COUNT PATH` for each group after the first; a path that does not fit is left out.
    var bytes: [UInt8] {
        var bytes = CrashRecord.padded(Self.mark.utf8, to: CrashRecord.markLength)
        bytes += "\(CrashRecord.field(boot))\n".utf8
        for (path, count) in outOfMemoryKills.sorted(by: { $0.key < $1.key }) {
            let line = Array("\(count) \(path)\n".utf8)
            if bytes.count + line.count < CrashRecord.length { bytes += line }
        }
        return CrashRecord.padded(bytes, to: CrashRecord.length - 1) + [UInt8(ascii: "\n")]
    }

    /// Whether the kernel has killed a process for lack of memory since then.
    func hasSeenOutOfMemoryKill(now: [String: Int]) -> Bool {
        outOfMemoryKills.contains { path, count in now[path, default: 0] > count }
    }
}

extension ProcessRecord {
    init?(_ bytes: some Collection<UInt8>) {
        let mark = CrashRecord.padded(Self.mark.utf8, to: CrashRecord.markLength)
        guard bytes.count == CrashRecord.length, bytes.starts(with: mark) else { return nil }
        let lines = String(decoding: bytes.dropFirst(mark.count), as: UTF8.self)
            .split(separator: "\n")
        guard let boot = lines.first else { return nil }
        var kills: [String: Int] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let count = Int(parts[0]) { kills[String(parts[1])] = count }
        }
        self.init(boot: boot == "-" ? "" : String(boot), outOfMemoryKills: kills)
    }
}
