import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc

/// What is found at the sources of images. Variants of an image share its source, and follow each other.
struct SourceLooks {
    enum Finding {
        /// It has no source.
        case none
        case file(stat)
        case gone
        /// It cannot be looked at.
        case unreadable
        /// It is not a file of this machine.
        case remote
    }

    private let sources: LocalSources
    private let readsAll: Bool
    private var last: (source: ByteString, presence: LocalSources.Presence)?
    private(set) var suspects: [Int] = []
    /// The images whose servers must be asked.
    private(set) var remotes: [Int] = []
    private var paths: [ByteString: String] = [:]
    private var digests: [ByteString: (sha256: String, identity: SourceIdentity?)] = [:]

    init(_ sources: LocalSources, readsAll: Bool) {
        self.sources = sources
        self.readsAll = readsAll
    }

    mutating func finding(of image: Manifest.Image) -> Finding {
        guard case .source(let source) = image.origin else { return .none }
        guard let path = source.localPath else { return .remote }
        return switch presence(of: source.text, path) {
        case .file(let information): .file(information)
        case .gone: .gone
        case .unknown: .unreadable
        }
    }

    mutating func ask(_ index: Int) { remotes.append(index) }

    mutating func suspect(_ index: Int, _ image: Manifest.Image) {
        guard case .source(let source) = image.origin, let path = source.localPath else { return }
        suspects.append(index)
        paths[source.text] = path
    }

    /// Whether the source of a failed image is another one now, or was changed since the image was tried. If only its
    /// server knows that, it is asked.
    mutating func isOther(
        _ image: Manifest.Image, _ index: Int, than former: ImageStatus, _ status: Status
    ) -> Bool {
        guard case .source(let source) = image.origin else { return false }
        if let shown = former.source, shown != source.shown { return true }
        guard let path = source.localPath else {
            guard case .remote(let url) = source, let text = former.sourceIdentity else {
                return false
            }
            if RemoteIdentity.isOfOther(text, than: url) { return true }
            if RemoteIdentity(text) != nil { remotes.append(index) }
            return false
        }
        guard case .file(let information) = presence(of: source.text, path) else { return false }
        if former.error?.code == FetchError.Code.sourceMissing.rawValue { return true }
        if let known = former.sourceIdentity {
            return SourceIdentity(known) != SourceIdentity(information)
        }
        let tried =
            former.times?.filtering ?? former.times?.downloading
            ?? status.times.started.flatMap { Moment($0) }
        guard let tried else { return false }
        return information.statusChanged >= Double(tried.milliseconds) / 1000 - RunFolder.tick
    }

    private mutating func presence(of source: ByteString, _ path: String) -> LocalSources.Presence {
        if let last, last.source == source { return last.presence }
        let presence = sources.presence(of: path)
        last = (source, presence)
        return presence
    }

    /// - Parameter isStopped: whether the rest is left out.
    mutating func readSuspects(_ isStopped: @escaping @Sendable () -> Bool) {
        let names = Array(paths)
        let sources = sources
        let found = concurrentMap(names.map(\.value)) { path in
            isStopped() ? nil : sources.digest(of: path)
        }
        for (name, digest) in zip(names, found) { digests[name.key] = digest }
    }

    /// nil if the source was not read, or cannot be.
    func digest(of image: Manifest.Image) -> (sha256: String, identity: SourceIdentity?)? {
        guard !digests.isEmpty, let source = image.source else { return nil }
        return digests[source.text]
    }
}
