import DarkroomAnswer
import DarkroomManifest

extension Batch {
    /// Has images filtered again whose pixels are needed and do not exist, and counts the users of each image.
    mutating func indexHandOvers() {
        for index in manifest.images.indices where !status.images[index].state.isFinal {
            var needed = manifest.handedOver(to: index)
            while let other = needed.popLast() {
                guard status.images[other].state == .filtered, !handOvers.isThere(other) else {
                    continue
                }
                handOvers.begin(again: other, status.images[other])
                replace(other, with: ImageStatus.initial(manifest.images[other], of: manifest))
                needed += manifest.handedOver(to: other)
            }
        }
        for index in manifest.images.indices where !status.images[index].state.isFinal {
            for other in manifest.handedOver(to: index) { handOvers.addUser(of: other) }
        }
    }

    /// The status for users: an image that is filtered again for others has its previous status.
    package var shownStatus: Status {
        guard !handOvers.former.isEmpty else { return status }
        var shown = status
        shown.counts = shownCounts
        for (index, image) in handOvers.former { shown.images[index] = image }
        return shown
    }

    /// The counts of this status.
    var shownCounts: Status.Counts {
        var counts = status.counts
        for (index, image) in handOvers.former {
            let present = status.images[index]
            counts.count(present.state, isWarned: present.isWarned, times: -1)
            counts.count(image.state, isWarned: image.isWarned)
        }
        return counts
    }

    /// The remarks for an image that was made from images that were filtered again.
    func remarks(onPixelsOf index: Int) -> [String] {
        manifest.handedOver(to: index).filter(handOvers.isChanged).map {
            let name = manifest.images[$0].name
            return
                "\(name) was filtered again for this image, and the result differs from its output: "
                + "its source or darkroomd has changed since then"
        }
    }

    /// Releases the pixels that an ended image needed and its own pixels, if nobody needs them now.
    mutating func releaseHandOvers(of index: Int, _ pool: inout Pool) {
        let needed = manifest.handedOver(to: index)
        for other in needed { handOvers.removeUser(of: other) }
        for other in [index] + needed where live[other] == nil { dropHandOver(of: other, &pool) }
    }

    /// Has the image's file removed, if it exists and nobody needs it.
    mutating func dropHandOver(of index: Int, _ pool: inout Pool) {
        guard handOvers.letGo(of: index) else { return }
        pool.request(.dropHandOver(id: id, image: index))
    }
}
