import DarkroomManifest

extension RecipeBook {
    /// The recipes that the manifest of this status used when it was taken.
    ///
    /// - Parameter limit: the most filters of one image.
    package init(of status: Status, limit: Int) {
        self.init(
            (status.recipes ?? []).compactMap {
                try? Recipe(named: $0.name, text: $0.text, limit: limit)
            })
    }
}

extension Manifest {
    /// The recipes for the status; nil if it uses none.
    package var recipeReferences: [Status.RecipeReference]? {
        recipes.isEmpty ? nil : recipes.map { Status.RecipeReference($0) }
    }
}
