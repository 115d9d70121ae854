import TestSupport

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

extension FlakyOrigin {
    /// The source of this path.
    func source(_ path: String) -> SourceReference { SourceReference(ByteString(url(path))) }
}

extension Manifest {
    /// Images `i0`, `i1`, … of these sources.
    static func of(
        _ sources: [SourceReference], priority: Priority = .normal,
        quality: QualityOfServiceName = .default
    ) -> Manifest {
        let images = sources.enumerated().map { Image(name: "i\($0)", origin: .source($1)) }
        return Manifest(images: images, priority: priority, qualityOfService: quality)
    }

    /// The same of local sources `s0`, `s1`, ….
    static func ofSources(
        _ count: Int, priority: Priority = .normal, quality: QualityOfServiceName = .default
    ) -> Manifest {
        of((0..<count).map { "s\($0)" }, priority: priority, quality: quality)
    }

    /// The manifest as a submitter writes it, in JSON. Of filters it knows those that lay other images over.
    var written: String {
        let written = images.enumerated().compactMap { index, image -> String? in
            if let variant = image.variant {
                return index == variant.first ? self.written(variant) : nil
            }
            var fields = [#""name": "\#(image.name)""#]
            switch image.origin {
            case .source(let source): fields.append(#""source": "\#(source.text)""#)
            case .image(let index): fields.append(#""from": "\#(images[index].name)""#)
            }
            let after = image.after.map { "\"\(images[$0].name)\"" }
            if !after.isEmpty { fields.append(#""after": [\#(after.joined(separator: ", "))]"#) }
            let filters =
                image.overlays.map { #"{"overlay": {"from": "\#(images[$0].name)"}}"# }
            if !filters.isEmpty {
                fields.append(#""filters": [\#(filters.joined(separator: ", "))]"#)
            }
            if !image.isPublished { fields.append(#""publish": false"#) }
            if image.output.format == .jpeg { fields.append(#""output": {"format": "jpeg"}"#) }
            return "{\(fields.joined(separator: ", "))}"
        }
        let page = wantsPage.map { #""page": \#($0), "# } ?? ""
        return """
            {\(page)"priority": "\(priority.rawValue)", "qualityOfService": "\(qualityOfService.rawValue)",
            "images": [\(written.joined(separator: ", "))]}
            """
    }

    /// An image with variants of given names.
    private func written(_ variant: Image.Variant) -> String {
        let variants = images[variant.indices].map { image in
            let filters = image.overlays.map { #"{"overlay": {"from": "\#(images[$0].name)"}}"# }
            return #"{"name": "\#(image.name)", "filters": [\#(filters.joined(separator: ", "))], "#
                + #""output": "\#(image.output.format.rawValue)"}"#
        }
        var origin = ""
        switch images[variant.first].origin {
        case .source(let source): origin = #""source": "\#(source.text)""#
        case .image(let index): origin = #""name": "v", "from": "\#(images[index].name)""#
        }
        return #"{\#(origin), "variants": [\#(variants.joined(separator: ", "))]}"#
    }
}

extension Board {
    /// Begins to filter an image that is no variant; nil if it does not begin.
    mutating func filterBegan(_ key: BatchKey, _ index: Int) -> FilterJob? {
        let jobs: [FilterJob] = filterBegan(key, index)
        return jobs.first
    }

    /// What a change requests, which is not carried out.
    mutating func requests(_ change: (inout Board) -> Void) -> [Pool.Request] {
        _ = pool.takeRequests()
        change(&self)
        return pool.takeRequests()
    }
}

extension Pool {
    mutating func takeRequests() -> [Request] {
        var requests: [Request] = []
        while let request = takeRequest() { requests.append(request) }
        return requests
    }
}

extension [Pool.Request] {
    /// The work that is to begin.
    var entered: [Work] {
        compactMap { if case .enter(let work) = $0 { work } else { nil } }
    }
}

extension Failure {
    /// What another attempt may make up for.
    static let late = Failure(code: "connect-failed", message: "refused", isTransient: true)
}
