import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool

/// Results that need not be made: those of the store, and those of a former run.
extension FilterStep {
    /// Whether the input is the source of an image, and not the pixels of another one.
    var isOfSource: Bool {
        if case .source = job.input { true } else { false }
    }

    /// The digest of the input if results of it may be in the store, or may be added to it.
    func digest(of input: borrowing FilterInput, for files: [FilterFiles]) -> FilterInput.Digest? {
        guard let results, results.isEnabled, let owner = job.owner,
            files.contains(where: \.mayBeKept)
        else { return nil }
        return results.digest(of: input, owner: owner, path: inputName)
    }

    /// The source of a result that was not made.
    func source(
        _ digest: FilterInput.Digest?, _ identity: SourceIdentity?
    ) -> DevelopedPicture.Source? {
        isOfSource ? digest.map { .init(sha256: $0.sha256, identity: identity) } : nil
    }

    /// - Returns: nil if the image has no place in the store.
    func key(of files: FilterFiles, _ digest: FilterInput.Digest?) -> CacheKey? {
        let job = files.job
        guard let digest, let owner = job.owner, files.mayBeKept,
            let identity = CodecLibraries.identity(confining: job.steps.limits.confine)
        else { return nil }
        var key = ResultKey(
            owner: owner, source: digest.sha256, settings: job.settingsSHA256(),
            limits: job.steps.limits, identity: identity)
        for (name, other) in job.overlays.sorted(by: { $0.key < $1.key }) {
            // Who opens it learns why it cannot be read.
            guard let sha256 = try? open(other).sha256(path: other.file) else { return nil }
            key.overlays.append((name.string, sha256))
        }
        return key.cacheKey
    }

    func stored(_ files: FilterFiles, _ key: CacheKey?) -> PictureReport? {
        guard let key, let results, files.mayBeTaken else { return nil }
        return files.takeStored(key, of: results)
    }

    /// The former result of an image that cannot be made.
    static func standing(
        _ files: FilterFiles, because failure: Failure
    ) -> Result<DevelopedPicture, Failure> {
        do {
            guard let former = files.job.former, try FilterFiles.takeFormers([files]) else {
                return .failure(failure)
            }
            return .success(DevelopedPicture(.former(former), source: nil))
        } catch {
            return .failure(Failure(error))
        }
    }

    /// A source with the bytes, or the pixels, of a former run, so that nothing is filtered.
    struct Unchanged {
        /// The former results of the images.
        let results: [ImageStatus]
        /// nil if its pixels are those of another image.
        let source: DevelopedPicture.Source?
    }

    /// The source, if it has the bytes of which all former results were made, and if the needed images have the pixels.
    ///
    /// - Returns: nil if there is something to be filtered.
    func formerInput(_ files: [FilterFiles], _ input: borrowing FilterInput) throws -> Unchanged? {
        let results = files.compactMap { files in
            files.job.former.flatMap { $0.inputsSHA256 == files.job.inputsSHA256 ? $0 : nil }
        }
        guard results.count == files.count else { return nil }
        guard case .source = job.input else {
            // An older version has not noted them.
            return job.inputsSHA256 == nil ? nil : Unchanged(results: results, source: nil)
        }
        let source = try input.source(path: inputName)
        let isSame = results.allSatisfy { $0.sourceSHA256 == source.sha256 }
        return isSame && source.sha256 != nil ? Unchanged(results: results, source: source) : nil
    }
}
