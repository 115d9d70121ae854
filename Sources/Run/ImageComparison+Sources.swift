import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc
import SystemPackage

/// What the sources say: files that were read, servers that were asked, and what is gone.
extension ImageComparison {
    /// Decides on an image whose source has been read.
    func judge(
        suspect index: Int, _ image: Manifest.Image, _ looks: SourceLooks, _ result: inout Result
    ) {
        guard case .stands = result.verdicts[index] else { return }
        guard let digest = looks.digest(of: image) else {
            result.verdicts[index] = .standsAlone(.unreadable)
            return
        }
        if digest.sha256 != result.former[index]?.sourceSHA256 {
            result.verdicts[index] = .made(.source)
        }
    }

    /// - Parameter indices: the images whose sources are remote.
    /// - Returns: false if it was stopped.
    func askServers(
        _ manifest: Manifest, _ indices: [Int], _ result: inout Result
    ) throws(RunError) -> Bool {
        guard let remote else { return true }
        var questions: [RemoteLook.Question] = []
        var places: [ByteString: Int] = [:]
        var asked: [(image: Int, question: Int)] = []
        for index in indices {
            guard case .source(.remote(let url)) = manifest.images[index].origin,
                let former = result.former[index]
            else { continue }
            let text = former.sourceIdentity
            let identity = text.flatMap { RemoteIdentity($0) }
            if let identity, !identity.isOf(url) {
                result.verdicts[index] = .made(.source)
                continue
            }
            let isKnown = identity != nil && (!readsAll || former.state == .failed)
            if former.state == .filtered, !isKnown || former.sourceSHA256 == nil {
                result.verdicts[index] = .made(.unsure)
                // Only whether it is still there.
                guard prunes else { continue }
            }
            let key = ByteString("\(url.requested.string)\n\(isKnown ? text ?? "" : "")")
            let place = places[key] ?? questions.count
            if place == questions.count {
                places[key] = place
                questions.append((url, isKnown ? identity : nil))
            }
            asked.append((index, place))
        }
        guard let answers = try remote.ask(questions, isStopped: isStopped) else { return false }
        for (image, question) in asked {
            let isFiltered = result.former[image]?.state == .filtered
            switch answers[question] {
            case .same: break
            case .other where !isFiltered: result.verdicts[image] = .made(.source)
            case .other:
                if result.verdicts[image] == .stands { result.verdicts[image] = .made(.source) }
            case .gone where isFiltered:
                result.verdicts[image] = prunes ? .made(.gone) : .standsAlone(.gone)
            case .failed where isFiltered: result.verdicts[image] = .standsAlone(.unasked)
            case .gone, .failed: break
            }
        }
        return true
    }

    /// Keeps what would be removed, but may only be out of reach: all local sources or all of a host are gone, or a folder
    /// is on another device than its source was, and no other source is found in it.
    func settleGone(in manifest: Manifest, _ result: inout Result) {
        let gone = result.verdicts.indices.filter { result.verdicts[$0] == .made(.gone) }
        guard !gone.isEmpty else { return }
        var places: Set<ByteString> = []
        var hasLocal = false
        for (index, image) in manifest.images.enumerated() {
            // Nobody has looked for the source of an image that had no result.
            guard let source = image.source, result.former[index]?.state == .filtered,
                result.verdicts[index].hasFoundSource
            else { continue }
            places.insert(source.place)
            if source.localPath != nil { hasLocal = true }
        }
        for index in gone {
            guard let source = manifest.images[index].source, !places.contains(source.place) else {
                continue
            }
            guard hasLocal, let path = source.localPath else {
                result.verdicts[index] = .standsAlone(.gone)
                result.keepsAll = true
                continue
            }
            let identity = result.former[index]?.sourceIdentity
            if sources.mayBeUnmounted(path, formerly: identity) {
                result.verdicts[index] = .standsAlone(.unreadable)
            }
        }
    }
}

extension SourceReference {
    /// What one failure takes away: the folder of a file, or the host of a URL.
    fileprivate var place: ByteString {
        switch self {
        case .local(let local):
            ByteString(FilePath(local.path).removingLastComponent().string)
        case .remote(let url): ByteString("//" + (Origin(url: url)?.host.description ?? ""))
        case .refused: text
        }
    }
}
