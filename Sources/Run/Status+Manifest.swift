import DarkroomAnswer
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

extension Status {
    /// Reads the manifest again that was accepted as this batch, with the recipes of then. It was accepted once, so no
    /// limit counts.
    ///
    /// - Parameters:
    ///   - bytes: its copy.
    ///   - profile: the colour space of results for which it has none; nil for that of the pictures.
    ///   - finder: what its patterns meant, and how many pages its sources had.
    func manifest(
        from bytes: [UInt8], _ format: ManifestFormat, profile: OutputProfile? = nil,
        defaultFilters: [Filter] = [], finder: SourceFinder
    ) throws(ManifestRejection) -> Manifest {
        var limits = ManifestLimits(bytes: .max, images: .max, filters: .max)
        limits.profile = profile ?? limits.profile
        return try ManifestReader.read(
            bytes, format: format, limits: limits, defaultFilters: defaultFilters,
            recipes: RecipeBook(of: self, limit: limits.filters), finder: finder)
    }
}
