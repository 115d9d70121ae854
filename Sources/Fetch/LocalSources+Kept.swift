import DarkroomCore
import SystemPackage

extension LocalSources {
    /// Opens a picture that an answer has kept; nil if it has none for this source. No link is followed: the submitter may
    /// change the folder at any time.
    func openKept(
        _ path: String, in kept: KeptPictures, _ shown: RedactedURL
    ) throws(FetchError) -> OpenedFile? {
        guard let answer = try? Directory(path: kept.answer) else { return nil }
        for keptPath in kept.paths(of: path) {
            guard
                let file = try? resolution.open(
                    keptPath, beneath: answer.number, followsLinks: false)
            else { continue }
            return try checked(file, path: "\(kept.answer)/\(keptPath)", shown: shown)
        }
        return nil
    }
}
