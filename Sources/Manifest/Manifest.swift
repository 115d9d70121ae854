import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// A completely checked manifest: names are unique and safe, references are resolved, filters are valid.
package struct Manifest: Sendable, Equatable {
    /// In the manifest's order (those of a property list are sorted by name, because it has no order).
    package var images: [Image]
    package var priority = Priority.normal
    package var qualityOfService = QualityOfServiceName.default
    /// Whether the daemon makes a page of the batch; nil if neither the manifest nor its recipe says so.
    package var wantsPage: Bool?
    /// The recipes that it uses, sorted by their names. Their settings are in those of the images already.
    package var recipes: [Recipe] = []
    /// What its patterns and folders mean, and how many pages its sources have. Their images are among the others already.
    package var found = SourceRecord()
    /// The number of its patterns and folders that were not looked up, so that images are missing.
    package var unknownSources = 0
    /// The number of its files whose pages were not counted, so that images are missing.
    package var uncountedSources = 0
    /// The number of its URLs that have one image although all pages are wanted of the sources.
    package var urlsWithOnePage = 0
    /// Whether any image has the filters of the configuration, because the manifest has none for it.
    package var usesDefaultFilters = false

    /// Whether images may be missing because nobody has looked for files or pages.
    package var hasUnknownSources: Bool { unknownSources > 0 || uncountedSources > 0 }

    package struct Image: Sendable, Equatable {
        package var name: ByteString
        package var origin: Origin
        /// The page of a source with several pages, from 1; nil for the first one.
        package var page: Int?
        /// The indices of the images that must have ended, with or without success, before this one begins.
        package var after: [Int] = []
        /// The indices of the images that the filters lay over this one, each once, without its `from`.
        package var overlays: [Int] = []
        /// Applied in this order; may be empty (the picture is only read and written).
        package var filters: [Filter] = []
        /// Whether the picture is turned upright before the filters, according to its Exif orientation.
        package var autoOrient = true
        /// What becomes of it if its source is damaged.
        package var damaged = DamagedRule.fail
        /// Whether it fails if it would get a warning.
        package var isStrict = false
        package var output = OutputOptions()
        /// Whether it has an output. If not, its pixels are only used by other images.
        package var isPublished = true
        /// Its place among the variants of an image; nil if it is not a variant.
        package var variant: Variant?
        /// The name of that image, which is no image of the manifest itself.
        package var variantOf: ByteString?
        /// The path of its output by a template; nil for the name with the extension of the format.
        package var file: OutputName?
        /// Where its output is placed too; nil for nowhere.
        package var delivery: Delivery?

        /// nil if it is made from another image.
        package var source: SourceReference? {
            if case .source(let source) = origin { source } else { nil }
        }

        /// How its pixels are written: as its output or, if it is not published, exactly, for other images.
        package var encoding: OutputOptions {
            guard !isPublished else { return output }
            var options = HandOverFile.options
            options.profile = output.profile
            options.metadata = output.metadata
            return options
        }

        package func steps(within limits: PictureLimits) -> PictureSteps {
            var steps = PictureSteps(filters, autoOrient: autoOrient, encoding, limits)
            steps.limits.damaged = damaged
            steps.page = page
            return steps
        }

        /// Whether other images get its pixels from a file of their own, and not from its output.
        package var isHandedOver: Bool { !isPublished || !output.format.isLossless }

        /// Its picture in messages: the file of the output or, if it is not published, the name.
        package var resultName: String { isPublished ? outputFile : name.string }

        /// The indices of the images whose pixels this one needs.
        package var needs: [Int] {
            guard case .image(let index) = origin else { return overlays }
            return [index] + overlays
        }

        /// The file name of the output in the outbox: the name with `.png` or `.jpg`, unless it already has an
        /// extension of its format; or its path by a template, with the placeholders that are not known yet.
        package var outputFile: String { file?.shown ?? fileByName }

        /// The same for an output with these properties.
        package func outputFile(width: Int, height: Int, sha256: String) -> String {
            file?.path(width: width, height: height, sha256: sha256) ?? fileByName
        }

        /// Whether the path of the output is known before it is made.
        package var isFileKnown: Bool { file?.isKnown ?? true }

        private var fileByName: String { Self.outputFile(named: name, output.format).string }

        package static func outputFile(
            named name: ByteString, _ format: OutputFormat
        ) -> ByteString {
            format.endings.contains(where: name.string.hasEnding)
                ? name : ByteString(name.string + format.endings[0])
        }
    }

    package enum Origin: Sendable, Equatable {
        case source(SourceReference)
        /// The output of the image with this index.
        case image(Int)
    }
}

extension Manifest {
    package init(images: [Image]) { self.images = images }
}

extension Manifest.Image {
    package init(name: ByteString, origin: Manifest.Origin) {
        (self.name, self.origin) = (name, origin)
    }
}
