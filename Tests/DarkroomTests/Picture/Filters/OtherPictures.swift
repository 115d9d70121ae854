import SystemPackage
import TestPictures
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// The pictures that tests lay over others.
enum OtherPictures {
    /// A context in which each image is there by the name of its layout, as in `rgba 8 5x4`: noise of
    /// five by four pixels.
    static func context(_ limits: PictureLimits = PictureLimits()) -> StageContext {
        StageContext(limits: limits) { name throws(PictureError) in
            guard let maker = maker(named: name) else { return try StageContext.noImage(name) }
            return try open(maker.encoded, name)
        }
    }

    /// A context in which each image has these bytes.
    static func context(of file: [UInt8]) -> StageContext {
        StageContext(limits: PictureLimits()) { name throws(PictureError) in try open(file, name) }
    }

    static func open(_ file: [UInt8], _ name: String) throws(PictureError) -> OtherImage {
        do {
            let folder = try ScratchDirectory()
            let path = folder.url.appending(path: "other.png")
            try file.withUnsafeBytes { bytes in
                let descriptor = try FileDescriptor.open(
                    path.path, .writeOnly, options: [.create], permissions: .ownerReadWrite)
                try descriptor.closeAfter { _ = try descriptor.writeAll(bytes) }
            }
            let descriptor = try FileDescriptor.open(path.path, .readOnly)
            return OtherImage(Descriptor(owning: descriptor.rawValue), name: "\(name).png")
        } catch {
            throw PictureError(.readFailed, "\(name): \(error)")
        }
    }

    static func maker(named name: String) -> PNGMaker? {
        let words = name.split(separator: " ")
        guard words.count >= 3, let depth = Int(words[1]),
            let type = PNGMaker.ColourType.allCases.first(where: { "\($0)" == words[0] })
        else { return nil }
        let sides = words[2].split(separator: "x").compactMap { Int($0) }
        return .noise(
            width: sides[0], height: sides[1], colourType: type, depth: depth,
            interlaced: words.last == "interlaced", seed: 7)
    }
}

extension PictureSteps {
    /// Lays this picture over others.
    static func laying(_ logo: [UInt8]) -> PictureSteps {
        PictureSteps(
            filters: [.overlay(Filter.Overlay(from: "logo"))],
            openImage: { name throws(PictureError) in try OtherPictures.open(logo, name) })
    }
}

extension FilterStage {
    /// A stage, or several, of a picture of its own.
    static func make(
        _ filter: Filter, upstream: any Stage, limits: PictureLimits
    ) throws(PictureError) -> any Stage {
        try make(filter, upstream: upstream, context: OtherPictures.context(limits))
    }

    static func chain(
        _ filters: [Filter], upstream: any Stage, limits: PictureLimits
    ) throws(PictureError) -> any Stage {
        try chain(filters, upstream: upstream, context: OtherPictures.context(limits))
    }
}

extension PixelGrid {
    /// The grid after filters, pulled through their stages.
    func developed(
        _ filters: Filter..., rowsPerBand: Int = 3, limits: PictureLimits = PictureLimits()
    ) throws -> PixelGrid {
        try developed(by: filters, rowsPerBand: rowsPerBand, limits: limits)
    }

    func developed(
        by filters: [Filter], rowsPerBand: Int = 3, limits: PictureLimits = PictureLimits()
    ) throws -> PixelGrid {
        let source = GridStage(self, rowsPerBand: rowsPerBand)
        let stage = try FilterStage.chain(filters, upstream: source, limits: limits)
        let result = try PixelGrid(pulling: stage)
        #expect(source.hasEnded, "a stage ended before its upstream")
        return result
    }
}
