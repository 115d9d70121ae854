import DarkroomCore
import DarkroomPicture

extension Manifest {
    /// What a person should know about a manifest that is right: settings whose meaning has changed.
    package var warnings: [String] {
        let changed = images.filter { image in
            image.filters.contains {
                if case .resize(let resize) = $0 { resize.formerFit != nil } else { false }
            }
        }
        guard let first = changed.first else { return [] }
        let which =
            changed.count == 1
            ? "image \(first.name.shortened)"
            : "\(changed.count) images, first of \(first.name.shortened)"
        return [
            "thumbnail without ‘fit’ (of \(which)) keeps the whole picture; older versions cut it to the box. "
                + Filter.Resize.fitAdvice
        ]
    }
}
