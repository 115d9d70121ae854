import DarkroomCore
import DarkroomPicture

/// What a manifest asks for, checked whole: names are unique and safe, references resolved, filters
/// made.
package struct Manifest: Sendable, Equatable {
    /// In the manifest's order (a property list's are sorted by name, for it has none).
    package var images: [Image]
    package var priority: Priority
    package var qualityOfService: QualityOfServiceName

    package init(
        images: [Image], priority: Priority = .normal,
        qualityOfService: QualityOfServiceName = .default
    ) {
        self.images = images
        self.priority = priority
        self.qualityOfService = qualityOfService
    }

    package struct Image: Sendable, Equatable {
        package var name: ByteString
        package var origin: Origin
        /// Indices of the images that must have ended, whichever way, before this one starts.
        package var after: [Int]
        /// Indices of the images that the filters lay over this one, each once, without the one it is
        /// made from.
        package var overlays: [Int]
        /// Applied in this order; may be empty (the picture is only read and written).
        package var filters: [Filter]
        /// Whether the picture is turned upright before the filters, as its camera has noted.
        package var autoOrient: Bool
        package var output: OutputOptions

        package init(
            name: ByteString, origin: Origin, after: [Int] = [], overlays: [Int] = [],
            filters: [Filter] = [], autoOrient: Bool = true,
            output: OutputOptions = OutputOptions()
        ) {
            self.name = name
            self.origin = origin
            self.after = after
            self.overlays = overlays
            self.filters = filters
            self.autoOrient = autoOrient
            self.output = output
        }

        /// Indices of the images whose outputs this one is made of.
        package var needs: [Int] {
            guard case .image(let index) = origin else { return overlays }
            return [index] + overlays
        }

        /// The output's name in the outbox: the name with `.png` or `.jpg`, unless it has an ending
        /// of its format already.
        package var outputFile: String { Self.outputFile(named: name, output.format).string }

        /// The output's name of an image with this name.
        package static func outputFile(
            named name: ByteString, _ format: PictureFormat
        ) -> ByteString {
            format.endings.contains(where: name.string.hasEnding)
                ? name : ByteString(name.string + format.endings[0])
        }
    }

    package enum Origin: Sendable, Equatable {
        /// A URL or a path, as the manifest has it.
        case source(ByteString)
        /// The output of the image with this index.
        case image(Int)
    }
}

/// The bounds a manifest is held to.
package struct ManifestLimits: Sendable, Equatable {
    /// Bytes of the file.
    package var bytes: Int
    package var images: Int
    /// Filters of one image.
    package var filters: Int

    package init(bytes: Int = 64 << 20, images: Int = 1_000_000, filters: Int = 64) {
        self.bytes = bytes
        self.images = images
        self.filters = filters
    }
}

/// Everything wrong with a manifest: at least one problem, in the manifest's order.
package struct ManifestRejection: Error, Sendable, Equatable {
    package var problems: [ManifestProblem]

    package init(problems: [ManifestProblem]) {
        self.problems = problems
    }
}
