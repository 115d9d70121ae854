import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// The images of a batch that cannot be filtered again, because a picture that they need came with the manifest and was
/// removed when the batch ended.
///
/// An image needs its own picture and the pixels of others, which are filtered again for it. There is one exception: a
/// lossless output that exists has the pixels.
struct LostImages {
    private var lost: Set<Int> = []

    /// - Parameters:
    ///   - repeated: the images that would be repeated, which have no output.
    ///   - isGone: whether a source was one of the pictures that came with the manifest.
    init(_ manifest: Manifest, isRepeated repeated: Set<Int>, _ isGone: (SourceReference) -> Bool) {
        var users: [Int: [Int]] = [:]
        var next: [Int] = []
        for (index, image) in manifest.images.enumerated() {
            for other in image.needs { users[other, default: []].append(index) }
            if let source = image.source, isGone(source) {
                lost.insert(index)
                next.append(index)
            }
        }
        while let index = next.popLast() {
            guard repeated.contains(index) || manifest.images[index].isHandedOver else { continue }
            for user in users[index] ?? [] where lost.insert(user).inserted { next.append(user) }
        }
    }

    func contains(_ index: Int) -> Bool { lost.contains(index) }
}
