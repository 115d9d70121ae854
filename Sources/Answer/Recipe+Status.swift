import DarkroomManifest

extension Recipe {
    /// The recipe that a status has kept.
    package init(_ kept: Status.RecipeReference, limit: Int) throws(ManifestRejection) {
        try self.init(named: kept.name, text: kept.text, limit: limit)
    }
}

extension RecipeBook {
    /// The recipes that the manifest of this status used when it was taken.
    ///
    /// - Parameter limit: the most filters of one image.
    package init(of status: Status, limit: Int) {
        self.init((status.recipes ?? []).compactMap { try? Recipe($0, limit: limit) })
    }
}

extension Manifest {
    /// The recipes for the status; nil if it uses none.
    package var recipeReferences: [Status.RecipeReference]? {
        recipes.isEmpty ? nil : recipes.map { Status.RecipeReference($0) }
    }
}
