import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// Whose pixels are handed over to other images of the batch, and how far that is.
///
/// An image that is made of another one, by `from`, `overlay` or `watermark`, gets its filtered pixels. Where the
/// other's output is lossless it is read from the outbox. Where it is not, the step that filters the other writes
/// its pixels to a second file, `active/ID/pixels-N`, in the same run. It belongs to that step until the image's
/// end is recorded, then to the board, which has it removed as soon as no image that has not ended needs it.
///
/// A line `filtered` of the journal vouches for the file as it does for the output: the publisher syncs both before.
/// The journal says nothing more of it. Where it is missing (it was lost with the power, or the batch had ended and
/// is done again in part), the image is filtered again from its source for nothing else. Meanwhile its users see it
/// as it was, and its output is not touched. Then the file gets its name when it is on the disk.
///
/// | there is                 | the journal says of N | its owner       | a restart                               |
/// |--------------------------|-----------------------|-----------------|-----------------------------------------|
/// | `pixels-N.new`           | nothing, or `filtered`| N's filter step | removes it                              |
/// | `pixels-N`               | nothing               | the publisher   | removes it; N is filtered anew          |
/// | `pixels-N`               | `filtered`            | the board       | keeps it while it is needed             |
/// | `pixels-N`               | `failed`, `cancelled` | the board       | removes it                              |
/// | none, and it is needed   | `filtered`            | –               | N is filtered again, its output is kept |
/// | none, and it is not      | anything              | –               | nothing                                 |
///
/// In a hold the files stay; with the batch's folder they go.
struct HandOvers {
    /// How many images that have not ended need the pixels of one whose output is not lossless.
    private var users: [Int: Int] = [:]
    /// Images whose file is there, or may be.
    private var files: Set<Int>
    /// The statuses of images that are filtered again for their pixels alone, as they were and will be.
    private(set) var former: [Int: ImageStatus] = [:]
    /// Those whose output would be another one now.
    private var changed: Set<Int> = []

    /// - Parameter files: the images whose file the journal vouches for.
    init(files: Set<Int>) {
        self.files = files
    }

    func isThere(_ index: Int) -> Bool { files.contains(index) }

    func isFilteredAgain(_ index: Int) -> Bool { former[index] != nil }

    func isChanged(_ index: Int) -> Bool { changed.contains(index) }

    mutating func addUser(of index: Int) { users[index, default: 0] += 1 }

    mutating func removeUser(of index: Int) {
        guard let count = users[index] else { return }
        users[index] = count > 1 ? count - 1 : nil
    }

    /// The image's filter begins; whether it is to write the file. One that has begun before does so again, also
    /// where nobody needs it any more: the publisher expects what is there, or may be.
    mutating func begin(_ index: Int) -> Bool {
        if users[index] != nil || former[index] != nil { files.insert(index) }
        return files.contains(index)
    }

    /// An image is to be filtered again.
    mutating func begin(again index: Int, _ status: ImageStatus) { former[index] = status }

    /// An image has been filtered again; notes whether it has come out as before.
    mutating func compare(_ index: Int, sha256: String) {
        if let output = former[index]?.output, output.sha256 != sha256 { changed.insert(index) }
    }

    /// Gives the status that an image has again that was filtered again.
    mutating func end(again index: Int) -> ImageStatus? { former.removeValue(forKey: index) }

    /// Forgets the image's file if nobody needs it; whether there is one to be removed.
    mutating func letGo(of index: Int) -> Bool {
        users[index] == nil && files.remove(index) != nil
    }

    /// Those of the files that nobody needs.
    var unneeded: [Int] { files.filter { users[$0] == nil } }
}

extension Manifest {
    /// The images whose pixels are handed over to this one in a file of their own.
    func handedOver(to index: Int) -> [Int] {
        images[index].needs.filter { !images[$0].output.format.isLossless }
    }
}

extension Batch {
    /// Has images filtered again whose pixels are needed and are not there, and counts who needs whose.
    func indexHandOvers() {
        for index in manifest.images.indices where !status.images[index].state.isFinal {
            var needed = manifest.handedOver(to: index)
            while let other = needed.popLast() {
                guard status.images[other].state == .filtered, !handOvers.isThere(other) else {
                    continue
                }
                handOvers.begin(again: other, status.images[other])
                setState(.new, of: other)
                status.images[other] = ImageStatus.initial(manifest.images[other], of: manifest)
                needed += manifest.handedOver(to: other)
            }
        }
        for index in manifest.images.indices where !status.images[index].state.isFinal {
            for other in manifest.handedOver(to: index) { handOvers.addUser(of: other) }
        }
    }

    /// The status as its users see it: an image that is filtered again for others is what it was.
    var shownStatus: Status {
        guard !handOvers.former.isEmpty else { return status }
        var shown = status
        for (index, image) in handOvers.former {
            shown.counts[shown.images[index].state] -= 1
            shown.counts[image.state] += 1
            shown.images[index] = image
        }
        return shown
    }

    /// What is to be remarked on an image that was made of others filtered again.
    func remarks(onPixelsOf index: Int) -> [String] {
        manifest.handedOver(to: index).filter(handOvers.isChanged).map {
            let name = manifest.images[$0].name
            return
                "\(name) was filtered again for this image, and the result differs from its output: "
                + "its source or darkroomd has changed since then"
        }
    }
}

extension Board {
    /// Lets go of the pixels that an image which has ended needed, and of its own, where nobody needs them now.
    func releaseHandOvers(of index: Int, _ batch: Batch, _ effects: inout [Effect]) {
        let needed = batch.manifest.handedOver(to: index)
        for other in needed { batch.handOvers.removeUser(of: other) }
        for other in [index] + needed where batch.live[other] == nil {
            dropHandOver(of: other, batch, &effects)
        }
    }

    /// Has the image's file removed, if there is one and nobody needs it.
    func dropHandOver(of index: Int, _ batch: Batch, _ effects: inout [Effect]) {
        guard batch.handOvers.letGo(of: index) else { return }
        effects.append(.dropHandOver(batch.folders, image: index))
    }

    /// What is to be done with an image that has been filtered, or could not be: it is recorded, or goes back to
    /// what it was.
    func ended(
        _ index: Int, of batch: Batch, _ image: ImageStatus, at step: Step,
        _ effects: inout [Effect]
    ) {
        batch.live[index]?.phase = .recording
        if batch.handOvers.isFilteredAgain(index) {
            effects.append(.endAgain(batch.key, index: index, image))
        } else {
            effects.append(.record(batch.key, batch.folders, index: index, image, step))
        }
    }

    /// Whether the image's filter has handed its pixels over.
    func isHandedOver(_ key: BatchKey, _ index: Int) -> Bool {
        batches[key]?.handOvers.isThere(index) ?? false
    }
}
