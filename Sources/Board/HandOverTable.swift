import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// The images whose pixels are handed over to other images of the batch, and the state of these pixels.
///
/// An image that uses another one, by `from`, `overlay` or `watermark`, gets the other's filtered pixels. If the
/// other's output is lossless, it is read from the outbox. If not, the step that filters the other image writes its
/// pixels to a second file, `active/ID/pixels-N`, in the same run. For an image that is not published, this is the only
/// file; if no image needs it, the step removes it. The file belongs to that step until the image's end
/// is recorded, and then to the board. The board has it removed as soon as no unfinished image needs it.
///
/// A line `filtered` of the journal guarantees that the file exists, as it does for the output: the committer syncs
/// both before. This is not so for a file that no image needs. The journal contains nothing else about it. If the file
/// is missing (it was lost in a power failure, or the batch had ended and is repeated in part), the image is filtered
/// again from its source, only for the file. Meanwhile users see the image's previous status, and its output does not
/// change. Then the file gets its name only when it is on the disk.
///
/// | there is             | N in the journal       | its owner       | a restart                               |
/// |----------------------|------------------------|-----------------|-----------------------------------------|
/// | `pixels-N.new`       | nothing, or `filtered` | N's filter step | removes it                              |
/// | `pixels-N`           | nothing                | the committer   | removes it; N is filtered again         |
/// | `pixels-N`           | `filtered`             | the board       | keeps it while it is needed             |
/// | `pixels-N`           | `failed`, `cancelled`  | the board       | removes it                              |
/// | no file, but a need  | `filtered`             | –               | N is filtered again, its output is kept |
/// | no file, and no need | anything               | –               | does nothing                            |
///
/// The files stay during a hold. They are removed with the batch's folder.
struct HandOverTable {
    /// How many unfinished images need the pixels of each image that hands them over.
    private var users: [Int: Int] = [:]
    /// Images whose file exists, or may exist.
    private var files: Set<Int>
    /// The statuses of images that are filtered again only for their pixels. They get these statuses back.
    private(set) var former: [Int: ImageStatus] = [:]
    /// Images whose output would differ now.
    private var changed: Set<Int> = []

    /// - Parameter files: the images whose file exists according to the journal.
    init(files: Set<Int>) { self.files = files }

    func isThere(_ index: Int) -> Bool { files.contains(index) }

    func isFilteredAgain(_ index: Int) -> Bool { former[index] != nil }

    func isChanged(_ index: Int) -> Bool { changed.contains(index) }

    mutating func addUser(of index: Int) { users[index, default: 0] += 1 }

    mutating func removeUser(of index: Int) { users.countDown(index) }

    /// The image's filter begins. A filter that has begun before writes the file again even if nobody needs it any
    /// more: the committer expects a file that exists or may exist.
    ///
    /// - Returns: whether it writes the file.
    mutating func begin(_ index: Int) -> Bool {
        if users[index] != nil || former[index] != nil { files.insert(index) }
        return files.contains(index)
    }

    /// An image will be filtered again.
    mutating func begin(again index: Int, _ status: ImageStatus) { former[index] = status }

    /// An image has been filtered again. Records whether its output is the same as before.
    mutating func compare(_ index: Int, sha256: String) {
        if let output = former[index]?.output, output.sha256 != sha256 { changed.insert(index) }
    }

    /// Returns the previous status of an image that was filtered again.
    mutating func end(again index: Int) -> ImageStatus? { former.removeValue(forKey: index) }

    /// Forgets the image's file if nobody needs it.
    ///
    /// - Returns: whether there is a file to remove.
    mutating func letGo(of index: Int) -> Bool { users[index] == nil && files.remove(index) != nil }

    var unneeded: [Int] { files.filter { users[$0] == nil } }
}

extension Manifest {
    /// The images whose pixels are handed over to this one in a separate file.
    func handedOver(to index: Int) -> [Int] {
        images[index].needs.filter { images[$0].isHandedOver }
    }
}
