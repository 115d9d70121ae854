@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

/// Random manifests.
extension BoardMachine {
    /// Some are the same URL, written differently; some are no URLs.
    private static let sources: [SourceReference] = [
        "http://h/a", "http://h/b", "http://h/b#x", "http://h/c", "http://H/é", "http://h/%C3%A9",
        "https://g/a", "https://g/b", "https://g/b#", "http://u@h/a", "here/a", "here/b",
        "ftp://h/a",
    ]

    /// The keys of the sources: their URLs decide, and the headers of the configuration.
    static let allCacheKeys: [[SourceReference: CacheKey]] = ["1", "2"].map { value in
        var keys: [SourceReference: CacheKey] = [:]
        for source in sources {
            guard case .remote(let url) = source else { continue }
            keys[source] = CacheKey(url: url, headers: [("header", value)])
        }
        return keys
    }

    func randomManifest() -> Manifest {
        let priorities: [Priority] = [.normal, .normal, .low, .high]
        let qualities: [QualityOfServiceName] = [.default, .default, .utility, .userInitiated]
        return Manifest(
            images: randomImages(), priority: priorities[number(0...3)],
            qualityOfService: qualities[number(0...3)])
    }

    private func randomImages() -> [Manifest.Image] {
        var images: [Manifest.Image] = []
        let most = number(1...7)
        let sources = (0..<number(1...4)).map { _ in
            Self.sources[number(0...Self.sources.count - 1)]
        }
        while images.count < most {
            if chance(20) {
                addVariants(to: &images, sources)
            } else {
                var image = randomImage(after: images.count, sources)
                image.isPublished = chance(85)
                images.append(image)
            }
        }
        for index in images.indices {
            images[index].name = "i\(index)"
            if chance(20) { images[index].delivery = Delivery(to: "/d") }
        }
        return chance(30) ? reversed(images) : images
    }

    /// An image that may use those before it.
    private func randomImage(after count: Int, _ sources: [SourceReference]) -> Manifest.Image {
        let origin: Manifest.Origin =
            count > 0 && chance(25)
            ? .image(number(0...count - 1)) : .source(sources[number(0...sources.count - 1)])
        var image = Manifest.Image(name: "", origin: origin)
        if count > 0, chance(15) {
            let overlay = number(0...count - 1)
            if origin != .image(overlay) { image.overlays = [overlay] }
        }
        if count > 0, chance(15) { image.after = [number(0...count - 1)] }
        image.output.format = chance(50) ? .png : .jpeg
        return image
    }

    private func addVariants(to images: inout [Manifest.Image], _ sources: [SourceReference]) {
        let first = images.count
        let count = number(2...3)
        let model = randomImage(after: first, sources)
        for number in 0..<count {
            var image = model
            image.overlays = chance(20) && first > 0 ? [self.number(0...first - 1)] : []
            image.overlays.removeAll { image.origin == .image($0) }
            image.output.format = chance(50) ? .png : .jpeg
            image.variant = .init(first: first, count: count, commonFilters: number % 2)
            images.append(image)
        }
    }

    /// The same images in the other order, so that some use later ones.
    private func reversed(_ images: [Manifest.Image]) -> [Manifest.Image] {
        func place(_ index: Int) -> Int { images.count - 1 - index }
        return images.reversed().map { image in
            var image = image
            if case .image(let other) = image.origin { image.origin = .image(place(other)) }
            image.overlays = image.overlays.map(place)
            image.after = image.after.map(place)
            if let variant = image.variant {
                image.variant = .init(
                    first: place(variant.first + variant.count - 1), count: variant.count,
                    commonFilters: variant.commonFilters)
            }
            return image
        }
    }
}
