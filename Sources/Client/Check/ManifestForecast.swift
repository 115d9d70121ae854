import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// What will become of the images of a manifest: looks at the headers of their sources.
///
/// The forecasts are passed on in the manifest's order and not kept, except for the images that others need. A source of
/// several images is read once.
package struct ManifestForecast {
    private let manifest: Manifest
    private let rules: SourceRules
    private let queue: HeaderQueue
    /// The images whose pixels others need, each after those that it needs itself.
    private let needed: [Int]
    private let isNeeded: Set<Int>
    /// The pages of sources of which these are made, and those of several images.
    private let shared: [SourcePage]
    /// The number of sources; each page of one counts.
    package let sources: Int

    /// - Throws: if this process cannot make connections.
    package init(of manifest: Manifest, _ rules: SourceRules) throws(ClientError) {
        self.manifest = manifest
        self.rules = rules
        queue = HeaderQueue(reader: try asClientError(.ioError, HeaderReader(rules)))
        needed = manifest.neededImages
        isNeeded = Set(needed)
        var (seen, chosen): (Set<SourcePage>, Set<SourcePage>) = ([], [])
        var shared: [SourcePage] = []
        for (index, image) in manifest.images.enumerated() {
            guard let source = SourcePage(image) else { continue }
            let isRepeated = !seen.insert(source).inserted
            if isRepeated || isNeeded.contains(index), chosen.insert(source).inserted {
                shared.append(source)
            }
        }
        self.shared = shared
        sources = seen.count
    }

    /// Looks at all sources.
    ///
    /// - Parameters:
    ///   - look: called after each source.
    ///   - pass: receives each image, in the manifest's order.
    package func run(look: () -> Void = {}, pass: (ImageForecast) throws -> Void) rethrows {
        var findings: [SourcePage: SourceFinding] = [:]
        queue.read(shared.count) {
            shared[$0]
        } pass: { place, finding in
            findings[shared[place]] = finding
            look()
        }
        var kept: [Int: ImageForecast] = [:]
        for index in needed { kept[index] = forecast(of: index, nil, findings, kept) }
        try queue.read(manifest.images.count) { index in
            guard let source = SourcePage(manifest.images[index]) else { return nil }
            return findings[source] == nil ? source : nil
        } pass: { index, finding in
            try pass(kept[index] ?? forecast(of: index, finding, findings, kept))
            if finding != nil { look() }
        }
    }

    private func forecast(
        of index: Int, _ finding: SourceFinding?, _ findings: [SourcePage: SourceFinding],
        _ kept: [Int: ImageForecast]
    ) -> ImageForecast {
        let image = manifest.images[index]
        var result: ImageForecast
        let inputName: String
        switch image.origin {
        case .source(let source):
            inputName = source.shown
            result = ImageForecast(
                image,
                finding ?? SourcePage(image).flatMap { findings[$0] }
                    ?? .unknown("it was not looked at"))
        case .image(let other):
            inputName = manifest.images[other].resultName
            result = ImageForecast(image)
            if case .known(let header, isExact: true) = kept[other]?.pixels {
                result.header = header
            }
        }
        guard case .ready = result.verdict else { return result }
        if let verdict = obstacle(image, kept) {
            result.verdict = verdict
            return result
        }
        calculate(&result, of: index, inputName, kept)
        return result
    }

    private func calculate(
        _ forecast: inout ImageForecast, of index: Int, _ inputName: String,
        _ kept: [Int: ImageForecast]
    ) {
        let image = forecast.image
        guard let header = forecast.header else { return }
        var overlays: [ByteString: PictureHeader] = [:]
        // An overlay of whose size only an upper bound is known.
        var bounded: ByteString?
        for other in image.overlays {
            guard case .known(let header, let isExact) = kept[other]?.pixels else { continue }
            let name = manifest.images[other].name
            overlays[name] = header
            if !isExact { bounded = name }
        }
        do throws(PictureError) {
            var steps = image.steps(within: rules.pictures)
            steps.cores = rules.cores
            let outcome = try PeakMemory.outcome(
                of: header.source(for: steps), steps, outputName: image.resultName,
                // Whether other images need its pixels in addition to a lossy output.
                handsOver: isNeeded.contains(index) && image.isPublished && image.isHandedOver
            ) { name in overlays[ByteString(name)]?.overlay }
            forecast.outcome = outcome
            if let memory = rules.memory, outcome.bytes > memory {
                guard let bounded else { throw .memoryLimit(outcome.bytes, limit: memory) }
                forecast.verdict = .unknown(
                    "the size of its overlay \(bounded) after trim is not known")
                return
            }
            if let failure = outcome.failure { throw failure }
        } catch {
            forecast.verdict = .fails(Failure(error.naming(inputName, or: [image.resultName])))
        }
    }

    /// Why the pixels of another image do not let this one succeed, or its fate be known.
    private func obstacle(
        _ image: Manifest.Image, _ kept: [Int: ImageForecast]
    ) -> ImageForecast.Verdict? {
        var unknown: String?
        for other in image.needs {
            let isOverlay = image.overlays.contains(other)
            switch kept[other]?.pixels {
            case .failure(let failure):
                return .fails(
                    Failure(
                        dependingOn: manifest.images[other].name.string,
                        isOverlay: isOverlay, failure))
            case .unknown(let reason): unknown = unknown ?? reason
            case .known(_, isExact: false) where !isOverlay:
                unknown =
                    unknown
                    ?? "the size of \(manifest.images[other].name) after trim is not known"
            case .known, nil: continue
            }
        }
        return unknown.map { .unknown($0) }
    }
}

extension Manifest {
    /// The images whose pixels others need, each after those that it needs itself.
    fileprivate var neededImages: [Int] {
        var order: [Int] = []
        var done: Set<Int> = []
        for image in images {
            // The path from an image to what it needs; a checked manifest has no circles.
            var path = image.needs
            while let index = path.last {
                let missing = images[index].needs.filter { !done.contains($0) }
                if done.contains(index) || missing.isEmpty {
                    path.removeLast()
                    if done.insert(index).inserted { order.append(index) }
                } else {
                    path += missing
                }
            }
        }
        return order
    }
}
