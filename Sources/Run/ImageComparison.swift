import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc

/// Compares the images of a manifest with those of the former run in the folder, one by one, by their names.
///
/// | the former image | what has changed since                           | verdict                                      |
/// |------------------|--------------------------------------------------|----------------------------------------------|
/// | none             |                                                  | made: `new`                                  |
/// | not ended        |                                                  | made: `unfinished`                           |
/// | cancelled        |                                                  | made: `unfinished`                           |
/// | failed           | its settings, its versions or its source         | made: `settings`, `versions`, `source`       |
/// | failed by a limit| that limit                                       | made: `limits`                               |
/// | failed           | nothing, but its source could not be fetched     | made: `unsure`                               |
/// | failed           | nothing, but `--retry` is given                  | made: `retry`                                |
/// | failed           | nothing                                          | stands                                       |
/// | filtered         | its source is gone                               | stands alone; with `--prune` made: `gone`    |
/// | filtered         | its source cannot be looked at or read           | stands alone                                 |
/// | filtered         | its settings, or the path of its output          | made: `settings`                             |
/// | filtered         | the versions that decide its bytes               | made: `versions`                             |
/// | filtered         | the URL of its source                            | made: `source`; its bytes decide (`formers`) |
/// | filtered         | the bytes of its source                          | made: `source`                               |
/// | filtered         | only what tells that without reading it          | stands; the status notes that                |
/// | filtered         | what the server says of its source               | made: `source`; its bytes decide             |
/// | filtered         | its server has never said anything               | made: `unsure`; its bytes decide             |
/// | filtered         | nothing, and its server does not answer          | stands alone                                 |
/// | filtered         | its output is gone                               | made: `output`                               |
/// | filtered         | it is to be made of pixels that cannot be had    | stands alone                                 |
/// | any              | an image that it needs is made, except `output`  | made: `needed`                               |
/// | not in the manifest |                                               | its output is listed; `--prune` removes it   |
///
/// The first line that fits counts. What stands alone is told: it may be older than its settings. An image that is made for
/// its missing output alone gets the same bytes, so those that are made from it stand.
///
/// If all sources are gone at once, their file system is probably not mounted, and `--prune` makes none of them `gone`.
struct ImageComparison {
    /// Where sources are looked for.
    let sources: LocalSources
    let former: Status
    /// Whether the former manifest was the same. Then an image whose settings were not noted has the same.
    let isSameManifest: Bool
    let retries: Bool
    let prunes: Bool
    let readsAll: Bool

    /// Asks the servers of sources; nil to take all for unchanged.
    let remote: RemoteLook?
    /// The limits of now; nil to take those of failures for unchanged.
    var settings: BatchSettings?
    /// Images that have been made a moment ago. Nothing of them is looked at.
    var fresh: Set<Int> = []
    /// Whether somebody wants to stop. It is called by several threads.
    var isStopped: @Sendable () -> Bool = { false }

    /// What is done with the images of a manifest, in its order.
    struct Result: Sendable {
        /// The former results of images that are made again, except for those that are not there.
        var formers: [Int: FormerResult] = [:]
        var verdicts: [ImageVerdict] = []
        /// The statuses that the images begin with. An image that stands has its former one.
        var images: [ImageStatus] = []
        /// The former statuses; nil for images that are new.
        var former: [ImageStatus?] = []
        /// The former images whose outputs are not there.
        fileprivate(set) var missing: Set<Int> = []
        /// How many results stand although the filters, the options or the path of the output are others now.
        fileprivate(set) var outdated = 0
        /// Whether an image that stands has another status than before.
        var isAmended = false
        /// Whether all sources are gone, so that `--prune` makes no image `gone`.
        var keepsAll = false
    }

    /// - Parameter missing: returns the images whose outputs are not there, and throws if one was changed. Its images have
    ///   the indices of the manifest, and those without a former one are `new`.
    /// - Returns: nil if it was stopped.
    func compare(
        _ manifest: Manifest,
        missing: ([ImageStatus]) throws(RunError) -> [Int]
    ) throws(RunError) -> Result? {
        var result = Result()
        let settings = manifest.allSettingsSHA256()
        result.former = matched(manifest)
        result.verdicts.reserveCapacity(manifest.images.count)
        var looks = SourceLooks(sources, readsAll: readsAll)
        var versions = PresentVersions(of: manifest, former)
        for (index, image) in manifest.images.enumerated() {
            result.verdicts.append(
                verdict(on: image, index, result.former[index], settings[index], &versions, &looks))
        }
        looks.readSuspects(isStopped)
        if isStopped() { return nil }
        for index in looks.suspects {
            judge(suspect: index, manifest.images[index], looks, &result)
        }
        guard try askServers(manifest, looks.remotes, &result) else { return nil }
        settleGone(in: manifest, &result)
        let initial = ImageStatus.initial(of: manifest)
        let outputs = zip(initial, result.former).map { image, former in former ?? image }
        result.missing = Set(try missing(outputs))
        for index in result.missing.sorted() {
            switch result.verdicts[index] {
            case .stands, .standsAlone: result.verdicts[index] = .made(.output)
            case .made: break
            }
        }
        if isStopped() { return nil }
        propagate(in: manifest, &result.verdicts)
        keepUnmakeable(in: manifest, &result)
        countOutdated(in: manifest, settings, &result)
        noteFormers(of: manifest, &result)
        fillImages(initial, settings, manifest, looks, &result)
        return result
    }

    /// Notes the results that stand if the images turn out to have the same, or if their sources cannot be had.
    private func noteFormers(of manifest: Manifest, _ result: inout Result) {
        // An image may have got the file of another one.
        var owners: [ByteString: ByteString] = [:]
        for image in manifest.images where image.isPublished {
            owners[ByteString(image.outputFile)] = image.name
        }
        for (index, verdict) in result.verdicts.enumerated() {
            guard case .made(let reason) = verdict, reason != .gone,
                !result.missing.contains(index),
                let former = result.former[index], former.state == .filtered
            else { continue }
            let name = manifest.images[index].name
            if let file = former.output?.file, owners[ByteString(file), default: name] != name {
                continue
            }
            result.formers[index] = FormerResult(former, isComparable: reason.comparesBytes)
        }
    }

    private func fillImages(
        _ initial: [ImageStatus], _ settings: [String], _ manifest: Manifest, _ looks: SourceLooks,
        _ result: inout Result
    ) {
        result.images.reserveCapacity(initial.count)
        for (index, image) in initial.enumerated() {
            guard let former = result.former[index] else {
                result.images.append(image)
                continue
            }
            var kept = former
            switch result.verdicts[index] {
            case .made:
                var image = image
                image.attempts = former.attempts
                result.images.append(image)
                continue
            case .standsAlone: (kept.from, kept.published) = (image.from, image.published)
            case .stands:
                (kept.source, kept.from, kept.published) =
                    (image.source, image.from, image.published)
                kept.variantOf = image.variantOf
                if kept.settingsSHA256 == nil { kept.settingsSHA256 = settings[index] }
                if let digest = looks.digest(of: manifest.images[index]),
                    former.state == .filtered
                {
                    kept.sourceIdentity = digest.identity?.text
                }
            }
            if kept != former { result.isAmended = true }
            result.images.append(kept)
        }
    }

    private func matched(_ manifest: Manifest) -> [ImageStatus?] {
        var indices: [ByteString: Int]?
        return manifest.images.enumerated().map { index, image in
            if former.images.indices.contains(index),
                ByteString(former.images[index].name) == image.name
            {
                return former.images[index]
            }
            let known =
                indices
                ?? Dictionary(
                    former.images.enumerated().map { (ByteString($1.name), $0) },
                    uniquingKeysWith: { first, _ in first })
            indices = known
            return known[image.name].map { former.images[$0] }
        }
    }

    private func verdict(
        on image: Manifest.Image, _ index: Int, _ former: ImageStatus?, _ settings: String,
        _ versions: inout PresentVersions, _ looks: inout SourceLooks
    ) -> ImageVerdict {
        guard let former else { return .made(.new) }
        guard former.state == .filtered || former.state == .failed else {
            return .made(.unfinished)
        }
        if fresh.contains(index) { return .stands }
        let finding = former.state == .filtered ? looks.finding(of: image) : .remote
        switch finding {
        case .gone: return prunes ? .made(.gone) : .standsAlone(.gone)
        case .unreadable: return .standsAlone(.unreadable)
        case .none, .file, .remote: break
        }
        guard isAsAsked(former, image, settings) else { return .made(.settings) }
        guard versions.made(former, image) else { return .made(.versions) }
        if former.state == .failed {
            if let limits = former.limitsSHA256, let present = self.settings,
                present.limitsSHA256(of: former.error) != limits
            {
                return .made(.limits)
            }
            if looks.isOther(image, index, than: former, self.former) { return .made(.source) }
            if image.wasUnfetched(former) { return .made(.unsure) }
            return retries ? .made(.retry) : .stands
        }
        switch finding {
        case .none, .gone, .unreadable: break
        case .remote: looks.ask(index)
        case .file(let information):
            let known = former.sourceIdentity.flatMap { SourceIdentity($0) }
            if readsAll || known != SourceIdentity(information) { looks.suspect(index, image) }
        }
        return .stands
    }

    /// Whether a former image has the filters, the options and the path of now.
    private func isAsAsked(
        _ former: ImageStatus, _ image: Manifest.Image, _ settings: String
    ) -> Bool {
        let isSame = former.settingsSHA256.map { $0 == settings } ?? isSameManifest
        return isSame && image.isFile(of: former.output)
    }

    private func countOutdated(
        in manifest: Manifest, _ settings: [String], _ result: inout Result
    ) {
        for (index, image) in manifest.images.enumerated() {
            guard case .standsAlone = result.verdicts[index], let former = result.former[index],
                !isAsAsked(former, image, settings[index])
            else { continue }
            result.outdated += 1
        }
    }

    /// Has images made that need others which are made.
    private func propagate(in manifest: Manifest, _ verdicts: inout [ImageVerdict]) {
        var users: [Int: [Int]] = [:]
        for (index, image) in manifest.images.enumerated() {
            for other in image.needs { users[other, default: []].append(index) }
        }
        guard !users.isEmpty else { return }
        var next = verdicts.indices.filter { users[$0] != nil && verdicts[$0].changesPixels }
        while let index = next.popLast() {
            for user in users[index] ?? [] {
                switch verdicts[user] {
                case .stands, .made(.output):
                    verdicts[user] = .made(.needed)
                    next.append(user)
                case .standsAlone, .made: break
                }
            }
        }
    }

    /// Has the former results stand of images that would be made of pixels which nobody can make any more: those of an image
    /// whose source is gone, and whose output has lost something.
    private func keepUnmakeable(in manifest: Manifest, _ result: inout Result) {
        let isAlone = result.verdicts.contains { if case .standsAlone = $0 { true } else { false } }
        guard isAlone else { return }
        /// By the image: whether its pixels cannot be had.
        var isCut: [Int: Bool] = [:]
        var stack: [Int] = []
        for first in manifest.images.indices where isCut[first] == nil {
            stack.append(first)
            while let index = stack.last {
                let image = manifest.images[index]
                // Manifests have no circles.
                if let need = image.needs.first(where: { isCut[$0] == nil }) {
                    stack.append(need)
                    continue
                }
                stack.removeLast()
                let lacks = image.needs.contains { isCut[$0] == true }
                if lacks { result.keep(index) }
                isCut[index] = lacks || result.verdicts[index].lacksSource
                // Its output has its pixels, if it stays.
                if case .made = result.verdicts[index] { continue }
                if !image.isHandedOver { isCut[index] = false }
            }
        }
    }
}

extension ImageComparison.Result {
    /// The pixels of which an image would be made cannot be had. Its former result stands, if there is one.
    fileprivate mutating func keep(_ index: Int) {
        guard case .made(let reason) = verdicts[index], reason != .gone, !missing.contains(index),
            former[index]?.state == .filtered
        else { return }
        verdicts[index] = .standsAlone(.needed)
    }
}

extension MakeReason {
    /// Whether only the bytes of the source, or the pixels of needed images, may have changed.
    fileprivate var comparesBytes: Bool { self == .source || self == .unsure || self == .needed }
}

extension Manifest.Image {
    /// Whether its output would have the path of this one, if it has the same bytes.
    fileprivate func isFile(of output: ImageStatus.Output?) -> Bool {
        guard let output, isPublished else { return true }
        let path = outputFile(width: output.width, height: output.height, sha256: output.sha256)
        return ByteString(path) == ByteString(output.file)
    }

    /// Whether its server did not give the source, so that nobody knows whether it would now. A limit of the configuration
    /// is no such reason.
    fileprivate func wasUnfetched(_ former: ImageStatus) -> Bool {
        guard case .source(.remote) = origin, former.sourceSHA256 == nil,
            former.limitsSHA256 == nil, let code = former.error?.code
        else { return false }
        return FetchError.Code(rawValue: code) != nil
    }
}

extension ImageVerdict {
    /// Whether images that are made from this one may become others.
    fileprivate var changesPixels: Bool {
        switch self {
        case .stands, .standsAlone, .made(.output): false
        case .made: true
        }
    }

    /// Whether the image cannot be made, because of its own source.
    fileprivate var lacksSource: Bool {
        switch self {
        case .standsAlone(let reason): reason != .needed
        case .stands, .made: false
        }
    }
}
