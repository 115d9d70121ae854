import DarkroomCore
import DarkroomManifest

extension BatchProgress {
    /// The progress of a batch with this status, without rates.
    ///
    /// - Parameter outputBytes: the sum of the sizes of the outputs; by default that of the status's images.
    package init(of status: Status, outputBytes: Int? = nil) {
        self.init(
            id: status.id, identity: status.manifest.identity, uid: status.manifest.uid,
            state: status.state, priority: status.priority, counts: status.counts,
            times: status.times.plausible, retries: status.retries,
            outputBytes: outputBytes ?? status.outputBytes, waiting: status.waiting,
            commands: status.commands.map { Array($0.suffix(Self.commandLimit)) },
            written: Clock.timestamp)
    }

    private static let commandLimit = 2

    /// Whether both say the same, apart from the time.
    package func saysTheSame(as other: Self) -> Bool {
        var same = self
        same.written = other.written
        return same == other
    }

    /// The content of the file, of at most `capacity` bytes: one line of JSON with keys in alphabetical order.
    ///
    /// What can be missed is left out if necessary, the least important first. The message of `waiting` gets the rest of
    /// the space.
    package func encoded() -> [UInt8] {
        var progress = self
        for reduce in Self.reductions {
            reduce(&progress)
            if let bytes = progress.fitted() { return bytes }
        }
        preconditionFailure("the progress of \(id) does not fit into its file")
    }

    private static let reductions: [@Sendable (inout BatchProgress) -> Void] = [
        { _ in },
        { $0.commands = $0.commands.map { Array($0.suffix(1)) } },
        { $0.commands = nil },
        { ($0.imagesPerSecond, $0.bytesPerSecond, $0.secondsLeft) = (nil, nil, nil) },
        { $0.waiting = nil },
        { $0.id = "" },
    ]

    /// The content with as much of the message as fits; nil if it does not fit without the message either.
    private func fitted() -> [UInt8]? {
        let bytes = Self.encode(self)
        guard bytes.count > Self.capacity else { return bytes }
        guard let message = waiting?.message else { return nil }
        var cut = self
        // Encoding makes text longer, never shorter.
        let room = message.utf8.count - (bytes.count - Self.capacity) - "…".utf8.count
        cut.waiting?.message = message.prefix(utf8: max(0, room)) + "…"
        let shorter = Self.encode(cut)
        return shorter.count > Self.capacity ? nil : shorter
    }

    /// A test compares it with what Foundation's encoder makes of the progress.
    private static func encode(_ progress: Self) -> [UInt8] {
        var writer = JSONWriter()
        writer.add("bytesPerSecond", progress.bytesPerSecond)
        writer.add("commands", progress.commands) { $1.write(&$0) }
        writer.add("counts", progress.counts) { $1.write(&$0) }
        writer.add("id", progress.id)
        writer.add("identity", progress.identity)
        writer.add("imagesPerSecond", progress.imagesPerSecond)
        writer.add("outputBytes", progress.outputBytes)
        writer.add("priority", progress.priority.rawValue)
        writer.add("retries", progress.retries)
        writer.add("schemaVersion", progress.schemaVersion)
        writer.add("secondsLeft", progress.secondsLeft)
        writer.add("state", progress.state.rawValue)
        writer.add("times", progress.times) { $1.write(&$0) }
        writer.add("uid", progress.uid.map(Int.init))
        writer.add("waiting", progress.waiting) { $1.write(&$0) }
        writer.add("written", progress.written)
        return writer.text()
    }
}

extension Status {
    /// The sum of the sizes of the outputs.
    package var outputBytes: Int {
        images.lazy.filter { $0.state == .filtered }.map { $0.output?.bytes ?? 0 }.saturatingSum()
    }
}
