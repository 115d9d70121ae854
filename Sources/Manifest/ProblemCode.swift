/// The kinds of problems of a manifest. The raw values are stable: programs read them in status.json.
package enum ProblemCode: String, Sendable, CaseIterable {
    /// The text is not JSON, YAML or a property list; the rest is not checked.
    case syntax
    /// The file was taken, but its owner does not let the daemon read it any more.
    case unreadable
    /// The file has more bytes than the limit.
    case tooLarge = "too-large"
    /// Containers are nested deeper than a manifest needs.
    case tooDeep = "too-deep"
    /// Aliases, or shared objects of a binary property list, stand for more values than the limit.
    case tooManyAliases = "too-many-aliases"
    case unsupportedTag = "unsupported-tag"

    case duplicateKey = "duplicate-key"
    case unknownKey = "unknown-key"
    case missingKey = "missing-key"
    case conflictingKeys = "conflicting-keys"
    case wrongType = "wrong-type"
    /// A word that is not one of the allowed ones.
    case unknownValue = "unknown-value"

    case noImages = "no-images"
    case tooManyImages = "too-many-images"
    /// A name that cannot be a file name in the outbox.
    case badName = "bad-name"
    /// Two images have the same name, or names that produce the same file.
    case duplicateName = "duplicate-name"
    /// A source that is empty, too long, or contains control characters.
    case badSource = "bad-source"
    /// The result is to have the format of its source, and no files of this format are written, or the name of the
    /// source does not tell it.
    case formatNotWritten = "format-not-written"

    /// A pattern or a folder that means no file.
    case noPictures = "no-pictures"
    /// More different patterns and folders than a manifest may have.
    case tooManyPatterns = "too-many-patterns"

    case tooManyFilters = "too-many-filters"
    case unknownFilter = "unknown-filter"
    case unknownParameter = "unknown-parameter"
    case missingParameter = "missing-parameter"
    case outOfRange = "out-of-range"
    /// Arguments that are valid separately but not together.
    case invalidArguments = "invalid-arguments"

    case unknownRecipe = "unknown-recipe"
    /// Filters in a manifest, although only recipes may have any.
    case filtersNotAllowed = "filters-not-allowed"
    /// A `deliver` to a folder that the configuration does not allow, or in a run.
    case deliveryNotAllowed = "delivery-not-allowed"

    /// A `from`, `after` or overlay that names no image of the manifest.
    case unknownImage = "unknown-image"
    case cycle
    /// The last entry of the list: the number of further problems.
    case tooManyProblems = "too-many-problems"
}
