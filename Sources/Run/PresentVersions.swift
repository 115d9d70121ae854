import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc

/// The versions that would make the images now.
struct PresentVersions {
    /// By the format; nil if it is not known, because the program of its library does not start.
    private let present: [OutputFormat: String?]
    private let withoutOutput = PictureVersions.presentSHA256(of: nil)
    private let former: [PictureVersions]
    /// By the names of programs; nil for one that does not start. Each is asked once.
    private var libraries: [String: String?] = [:]

    init(of manifest: Manifest, _ former: Status) {
        let formats = Set(manifest.images.lazy.filter(\.isPublished).map(\.output.format))
        present = Dictionary(
            uniqueKeysWithValues: formats.map { format in
                (format, format.findLibrary() ? PictureVersions.presentSHA256(of: format) : nil)
            })
        self.former = former.versions ?? []
    }

    /// Whether they would have made what was made.
    mutating func made(_ former: ImageStatus, _ image: Manifest.Image) -> Bool {
        for (program, library) in former.libraries ?? [:] {
            let known = libraries[program] ?? CodecLibraries.present(program)
            libraries[program] = .some(known)
            // Without the program, a result cannot be made again.
            guard let known, former.state == .failed || !known.isEmpty else { continue }
            if known != library { return false }
        }
        let format = image.isPublished ? image.output.format : nil
        guard let present = format.map({ self.present[$0] ?? nil }) ?? withoutOutput else {
            return true
        }
        if let sha256 = former.versionsSHA256 {
            // What has failed before it was written has not met what writes it.
            return sha256 == present || former.state == .failed && sha256 == withoutOutput
        }
        return self.former.allSatisfy { $0.sha256(of: format) == present }
    }
}
