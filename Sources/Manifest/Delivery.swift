import DarkroomCore

/// A folder in which the outputs of images are placed too, under their names: `deliver`. Images share it.
package final class Delivery: Sendable, Equatable {
    /// What is done when a file of somebody else has the name.
    package enum Existing: String, Sendable, CaseIterable {
        /// The output gets a number: `beach-2.png`.
        case number
        case replace
        /// The image fails.
        case fail
    }

    /// Absolute, with neither `.` nor `..` nor empty parts.
    package let folder: String
    package let existing: Existing
    /// Whether a recipe says it, which the administrator writes, and not the manifest.
    package let isOfRecipe: Bool

    package init(to folder: String, _ existing: Existing = .number, isOfRecipe: Bool = false) {
        self.folder = folder
        self.existing = existing
        self.isOfRecipe = isOfRecipe
    }

    /// The path in this form; nil if it is not absolute, or if it goes up.
    package static func folder(_ path: String) -> String? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
        let parts = path.pathParts
        return parts.contains("..") ? nil : "/" + parts.map(\.string).joined(separator: "/")
    }

    package static func == (a: Delivery, b: Delivery) -> Bool {
        ByteString(a.folder) == ByteString(b.folder) && a.existing == b.existing
            && a.isOfRecipe == b.isOfRecipe
    }
}
