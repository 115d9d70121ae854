import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// What former statuses tell about some images of a manifest, and about the files that these will write. The statuses are
/// read one after the other, image by image; what is kept is what belongs to these images.
///
/// | an image in a status                    | what it means                                                       |
/// |-----------------------------------------|---------------------------------------------------------------------|
/// | filtered or failed, of this name        | it is the result; that of an earlier status does not count any more |
/// | not made, or cancelled                  | nothing: the result of an earlier status counts                     |
/// | has the file of an earlier result of    | that result is lost: its file was replaced                          |
/// | another image                           |                                                                     |
/// | has a file that these images will write | they may replace it (`FormerOutputs`), if it is byte for byte that  |
///
/// At last, a result is lost whose file now is that of another image of the manifest: the shard of that image may have
/// replaced it.
struct FormerImages {
    private struct Record {
        let content: Content
        let output: FormerOutputs.Entry?
        let status: Int
    }

    private enum Content {
        case text(ArraySlice<UInt8>)
        case image(ImageStatus)

        var image: ImageStatus? {
            switch self {
            case .text(let text): ImageStatus(text: text)
            case .image(let image): image
            }
        }
    }

    /// The names of the images of which results are wanted.
    private let names: Set<ByteString>
    /// The paths of their outputs, as far as they are known before these are made.
    private let files: Set<ByteString>
    /// The names of all images of the manifest, if some of the paths are not known; nil otherwise.
    private let allNames: Set<ByteString>?
    /// Whether all outputs are noted.
    private let notesAll: Bool
    private var frames: [Status] = []
    private var records: [ByteString: Record] = [:]
    /// The images of `records` by their files.
    private var owners: [ByteString: ByteString] = [:]
    /// The former outputs with these paths, or all of them.
    let outputs = FormerOutputs()

    /// - Parameters:
    ///   - part: the images of which results are wanted: some or all of `manifest`.
    ///   - notesAll: whether all outputs are noted, and not only those that these images may replace.
    init(of part: Manifest, in manifest: Manifest, notesAll: Bool = false) {
        self.notesAll = notesAll
        names = Set(part.images.map(\.name))
        var files: Set<ByteString> = []
        var isKnown = true
        for image in part.images where image.isPublished {
            if image.isFileKnown {
                files.insert(ByteString(image.outputFile))
            } else {
                isKnown = false
            }
        }
        self.files = files
        allNames = isKnown ? nil : Set(manifest.images.map(\.name))
    }

    /// Reads a status, which is later than those before it.
    ///
    /// - Returns: the status without its images; nil if there is none.
    @discardableResult
    mutating func read(_ place: StatusPlace) throws(RunError) -> Status? {
        let number = frames.count
        let frame = try place.read { images in
            for (image, text) in images {
                add(image.name, image.state, image.entry, .text(text), number)
            }
        }
        if let frame { frames.append(frame) }
        return frame
    }

    /// Takes images from a journal, which have ended since the status that was read last.
    mutating func read(_ images: [ImageStatus]) {
        for image in images {
            let entry = image.output.map { FormerOutputs.Entry($0, of: image) }
            add(ByteString(image.name), image.state, entry, .image(image), max(0, frames.count - 1))
        }
    }

    private mutating func add(
        _ name: ByteString, _ state: ImageState, _ entry: FormerOutputs.Entry?,
        _ content: Content, _ status: Int
    ) {
        guard state == .filtered || state == .failed else { return }
        if let entry {
            noteFile(entry)
            if let owner = owners[entry.file], owner != name { lose(owner) }
        }
        guard names.contains(name) else { return }
        lose(name)
        records[name] = Record(content: content, output: entry, status: status)
        if let entry { owners[entry.file] = name }
    }

    func noteFile(_ entry: FormerOutputs.Entry) {
        let isWanted =
            notesAll || files.contains(entry.file)
            || allNames.map { allNames in
                entry.image.map { names.contains($0) || !allNames.contains($0) } ?? true
            } ?? false
        if isWanted { outputs.add(entry) }
    }

    private mutating func lose(_ name: ByteString) {
        guard let lost = records.removeValue(forKey: name), let entry = lost.output else { return }
        if owners[entry.file] == name { owners[entry.file] = nil }
    }

    /// Ends the reading.
    ///
    /// - Parameter manifest: all images, also those of other shards.
    mutating func end(_ manifest: Manifest) {
        for image in manifest.images where image.isPublished && image.isFileKnown {
            if let owner = owners[ByteString(image.outputFile)], owner != image.name { lose(owner) }
        }
        // What stands is in no list.
        for record in records.values {
            if let output = record.output { outputs.remove(output) }
        }
    }

    /// The results as the status of a run that has ended, of an unknown manifest; nil if there is none.
    func status(of part: Manifest, id: String, shards: Status.Shards?) -> Status? {
        guard let newest = frames.last, !records.isEmpty else { return nil }
        var used: Set<Int> = []
        var images: [ImageStatus] = []
        for image in part.images {
            guard let record = records[image.name], let known = record.content.image else {
                continue
            }
            used.insert(record.status)
            images.append(known)
        }
        var status = Status(
            id: id,
            manifest: .init(name: newest.manifest.name, file: nil, sha256: nil, bytes: 0),
            state: .completed,
            times: .init(received: newest.times.received),
            counts: Status.Counts(of: images), images: images)
        status.shards = shards
        status.state = status.counts.finalState
        let frames = used.sorted().map { self.frames[$0] }
        status.versions = Status.versions(of: frames)
        // An output that was changed after any of these is read, and a failed image is tried again if its source was. They
        // are in UTC and have one length.
        func first(_ time: (Status.Times) -> String?) -> String? {
            let times = frames.map { time($0.times) }
            return times.contains(nil)
                ? nil : times.compactMap { $0.map { ByteString($0) } }.min()?.string
        }
        status.times.started = first(\.started)
        status.times.finished = first(\.finished)
        return status
    }
}
