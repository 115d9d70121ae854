import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// What will become of an image, as far as the headers of its sources tell.
package struct ImageForecast: Sendable {
    package enum Verdict: Sendable {
        /// Nothing in the headers lets it fail.
        case ready
        case fails(Failure)
        case unknown(String)
    }

    package let image: Manifest.Image
    /// The header of the picture that is filtered; nil if it is not known.
    package var header: PictureHeader?
    /// The size of the source's file, in bytes; nil if it is not known, and for an image that is made from another one.
    package var bytes: Int64?
    /// What the filters will make of it; nil if it is not known.
    package var outcome: PeakMemory.Outcome?
    package var verdict = Verdict.ready

    init(_ image: Manifest.Image) { self.image = image }

    init(_ image: Manifest.Image, _ finding: SourceFinding) {
        self.image = image
        switch finding {
        case .header(let header, let bytes): (self.header, self.bytes) = (header, bytes)
        case .failure(let failure): verdict = .fails(failure)
        case .unknown(let reason): verdict = .unknown(reason)
        }
    }

    /// The pixels that other images of the batch get from this one.
    enum Pixels {
        /// - Parameter isExact: whether this is their size and not an upper bound.
        case known(PictureHeader, isExact: Bool)
        case failure(Failure)
        case unknown(String)
    }

    var pixels: Pixels {
        switch verdict {
        case .fails(let failure): return .failure(failure)
        case .unknown: return .unknown("\(image.name) is not known")
        case .ready:
            guard let header, let outcome, let layout = outcome.layout else {
                preconditionFailure("an image is ready, and its size is not calculated")
            }
            let result = PictureHeader(
                ofResultOf: header, layout: layout, autoOrient: image.autoOrient,
                options: image.output)
            return .known(result, isExact: outcome.isExact)
        }
    }
}
