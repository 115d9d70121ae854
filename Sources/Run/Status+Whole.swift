import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

extension Status {
    /// The whole status of a run without its images.
    ///
    /// - Parameter frames: the statuses of all shards without their images; there is at least one.
    init(wholeOf frames: [Status]) {
        var status = frames[0]
        status.shards = Status.Shards(count: frames.count)
        status.counts = Status.Counts()
        for frame in frames { status.counts.add(frame.counts) }
        // They are in UTC and have one length, so that their order is that of the texts.
        func time(
            _ key: (Status.Times) -> String?, _ best: ([ByteString]) -> ByteString?
        ) -> String? {
            best(frames.compactMap { key($0.times) }.map { ByteString($0) })?.string
        }
        status.times.received = time(\.received) { $0.min() } ?? status.times.received
        status.times.started = time(\.started) { $0.min() }
        status.times.finished = time(\.finished) { $0.max() }
        // Shards worked side by side.
        status.times.workMilliseconds = nil
        status.versions = Self.versions(of: frames)
        let commands = frames.flatMap { $0.commands ?? [] }
            .sorted { ByteString($0.time) < ByteString($1.time) }
        status.commands = nil
        for command in commands { status.note(command) }
        status.retries = frames.compactMap(\.retries).max()
        status.waiting = nil
        status.state = status.counts.finalState
        self = status
    }

    /// The versions that have made the images of these statuses; nil if none is known.
    static func versions(of statuses: [Status]) -> [PictureVersions]? {
        let versions = statuses.reduce(into: [PictureVersions]()) {
            $0 = $0.joined(by: $1.versions ?? [])
        }
        return versions.isEmpty ? nil : versions
    }
}
