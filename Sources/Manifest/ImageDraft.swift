import DarkroomCore
import DarkroomPicture

/// What a manifest may say for all its images, and for each one by itself.
package struct ImageSettings: Sendable {
    package var filters: FilterDrafts
    package var autoOrient = true
    package var output = OutputOptions()

    package init(filters: FilterDrafts) {
        self.filters = filters
    }
}

/// An image as a manifest has it, before names are resolved.
package struct ImageDraft: Sendable {
    /// Empty until it is derived, where the manifest gives none.
    package var name: ByteString = ""
    package var source: ByteString?
    package var from: Reference?
    package var after: [Reference] = []
    package var settings: ImageSettings
    /// Where the image is, for the problems that show when all images are known.
    package let path: DocumentPath
    package let place: Document.Place
    /// The place of the name; of the image where it has none.
    package var namePlace: Document.Place

    package init(settings: ImageSettings, path: DocumentPath, place: Document.Place) {
        self.settings = settings
        self.path = path
        self.place = place
        namePlace = place
    }

    /// Every other image that is mentioned: `from`, those that the filters lay over this one, `after`.
    package var references: [Reference] {
        (from.map { [$0] } ?? []) + settings.filters.mentions + after
    }

    /// The mention of another image.
    package struct Reference: Sendable {
        package let name: ByteString
        package let role: Role
        package let place: Document.Place

        package enum Role: Sendable {
            case from
            /// The index in `after`.
            case after(Int)
            /// A parameter of a filter at this path. Images that share a list of filters share the
            /// mention, which is told by its number.
            case filter(DocumentPath, number: Int)
        }
    }

    /// The output's name, once the image has one itself.
    package var outputFile: ByteString {
        Manifest.Image.outputFile(named: name, settings.output.format)
    }

    package func path(of reference: Reference) -> DocumentPath {
        switch reference.role {
        case .from: .key(path, "from")
        case .after(let item): .index(.key(path, "after"), item)
        case .filter(let path, _): path
        }
    }
}

/// A list of filters before the names in it are resolved.
package struct FilterDrafts: Sendable {
    package var filters: [Filter]
    /// The images that the filters name, each as often as it is named.
    package var mentions: [ImageDraft.Reference] = []

    package init(_ filters: [Filter], mentions: [ImageDraft.Reference] = []) {
        self.filters = filters
        self.mentions = mentions
    }
}
