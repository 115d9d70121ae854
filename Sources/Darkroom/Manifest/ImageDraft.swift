/// What a manifest may say for all its images, and for each one by itself.
package struct ImageSettings: Sendable {
    package var filters: [Filter]
    package var autoOrient = true
    package var output = OutputOptions()

    package init(filters: [Filter]) {
        self.filters = filters
    }
}

/// An image as a manifest has it, before names are resolved.
package struct ImageDraft: Sendable {
    /// Empty until it is derived, where the manifest gives none.
    package var name = ""
    package var source: String?
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

    /// The mention of another image.
    package struct Reference: Sendable {
        package let name: String
        /// Its index in `after`; nil for `from`.
        package let item: Int?
        package let place: Document.Place
    }

    /// The output's name, once the image has one itself.
    package var outputFile: String {
        Manifest.Image.outputFile(named: name, settings.output.format)
    }

    package func path(of reference: Reference) -> DocumentPath {
        guard let item = reference.item else { return .key(path, "from") }
        return .index(.key(path, "after"), item)
    }
}
