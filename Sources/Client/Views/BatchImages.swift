import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The images of an answer, of which there may be a million: they are read from its status one by one, as often as
/// somebody needs them.
struct BatchImages: Sendable {
    private enum Origin: Sendable {
        case stream(StatusStream)
        /// Of a status that somebody has written in another form.
        case list([ImageStatus])
    }

    /// The status without its images.
    let frame: Status
    private let origin: Origin
    private let answer: Directory

    /// - Returns: nil if the answer has no status.
    /// - Throws: if it cannot be read.
    init?(in answer: Directory) throws(ClientError) {
        self.answer = answer
        do throws(StatusStreamError) {
            guard let stream = try StatusStream(in: answer, isKeptOpen: true) else { return nil }
            frame = stream.frame
            origin = .stream(stream)
        } catch {
            if case .file(let error) = error { throw ClientError(error) }
            guard var status = try asClientError(Status(in: answer)) else {
                throw ClientError(.unreadableStatus(in: answer))
            }
            origin = .list(status.images)
            status.images = []
            frame = status
        }
    }

    // Lines of the texts of failed images, and of images with warnings.
    fileprivate static let failedMark: StaticString = "\n      \"state\" : \"failed\""
    fileprivate static let warnedMark: StaticString = "\n      \"warnings\" : [\n        \""

    func each(
        _ kind: BatchDetails.Images, _ body: (ImageStatus) throws(ClientError) -> Void
    ) throws(ClientError) {
        switch origin {
        case .list(let images):
            for image in images where kind.contains(image) { try body(image) }
        case .stream:
            try eachText { text throws(ClientError) in
                if let mark = kind.mark, !StatusStream.has(mark, in: text) { return }
                guard let image = ImageStatus(text: text) else {
                    throw ClientError(.unreadableStatus(in: answer))
                }
                if kind.contains(image) { try body(image) }
            }
        }
    }

    private func eachText(
        _ body: (ArraySlice<UInt8>) throws(ClientError) -> Void
    ) throws(ClientError) {
        guard case .stream(var stream) = origin else { return }
        while true {
            let text: ArraySlice<UInt8>?
            do throws(StatusStreamError) {
                text = try stream.next()
            } catch {
                if case .file(let error) = error { throw ClientError(error) }
                throw ClientError(.unreadableStatus(in: answer))
            }
            guard let text else { return }
            try body(text)
        }
    }

    // MARK: Sums

    struct Sums: Equatable {
        var failed = 0
        var warned = 0
        /// The images whose quality was chosen by trials.
        var chosen = 0
        /// Of the parts of metadata that somebody may have to account for, what became of them in how many images.
        var metadata: [Fate: Int] = [:]

        struct Fate: Hashable {
            let part: String
            let what: String

            static let all: [(fate: Fate, mark: StaticString)] = [
                (Fate(part: "copyright", what: "kept"), "\n        \"copyright\" : \"kept\""),
                (Fate(part: "copyright", what: "dropped"), "\n        \"copyright\" : \"dropped\""),
                (Fate(part: "GPS", what: "kept"), "\n        \"GPS\" : \"kept\""),
                (Fate(part: "GPS", what: "dropped"), "\n        \"GPS\" : \"dropped\""),
            ]
        }

        fileprivate mutating func add(_ image: ImageStatus) {
            if image.state == .failed { failed += 1 }
            if image.isWarned { warned += 1 }
            if image.output?.quality != nil { chosen += 1 }
            for (fate, _) in Fate.all where image.metadata?[fate.part] == fate.what {
                metadata[fate, default: 0] += 1
            }
        }
    }

    /// Counts without decoding: a million images take about a second.
    func sums() throws(ClientError) -> Sums {
        var sums = Sums()
        if case .list(let images) = origin {
            for image in images { sums.add(image) }
            return sums
        }
        try eachText { text throws(ClientError) in
            func has(_ line: StaticString) -> Bool { StatusStream.has(line, in: text) }
            if has(Self.failedMark) {
                sums.failed += 1
            } else if has(Self.warnedMark), has("\n      \"state\" : \"filtered\"") {
                sums.warned += 1
            }
            if has("\n        \"quality\" : ") { sums.chosen += 1 }
            guard has("\n      \"metadata\" : {") else { return }
            for (fate, mark) in Sums.Fate.all where has(mark) {
                sums.metadata[fate, default: 0] += 1
            }
        }
        return sums
    }
}

extension BatchDetails.Images {
    fileprivate var mark: StaticString? {
        switch self {
        case .all: nil
        case .failed, .firstFailed: BatchImages.failedMark
        case .warned: BatchImages.warnedMark
        }
    }

    fileprivate func contains(_ image: ImageStatus) -> Bool {
        switch self {
        case .all: true
        case .failed, .firstFailed: image.state == .failed
        case .warned: image.isWarned
        }
    }
}
