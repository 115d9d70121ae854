import DarkroomCore

/// A filter and its arguments.
///
/// The filters are those of a manifest, with the same names, ranges and defaults. darkroom-manifest(5) defines them.
/// They apply to stored values, which are usually gamma-encoded sRGB, and to colour that is not multiplied by alpha.
/// Each result is clamped and rounded to 8 or 16 bits before the next filter.
///
/// An argument outside its range causes the error ``PictureError/Code/invalidArguments`` before any file is opened.
public struct PictureFilter: Sendable, Equatable {
    /// As in a manifest: `hueRotate`.
    public let name: String
    /// By the names of the parameters. Missing ones have their defaults.
    let arguments: [String: FilterArgument]

    init(_ name: String, _ arguments: [String: FilterArgument?] = [:]) {
        self.name = name
        self.arguments = arguments.compactMapValues { $0 }
    }

    /// How a picture is fitted into a box with a width and a height.
    @nonexhaustive public enum Fit: String, Sendable, CaseIterable {
        /// The largest size that fits into the box. The rest of the box is filled with the background.
        case contain
        /// The smallest size that covers the box. The parts outside the box are cut off evenly.
        case cover
        /// Exactly the size of the box. The proportions may change.
        case fill
        /// The largest size that fits into the box. One side of the result may be shorter than the box's.
        case inside
        /// The smallest size that covers the box. One side of the result may be longer than the box's.
        case outside
    }

    /// The kernel that defines the weights of pixels when a picture is scaled.
    @nonexhaustive public enum Kernel: String, Sendable, CaseIterable {
        /// The nearest pixel, unchanged.
        case nearest
        /// A triangle.
        case linear
        /// Catmull and Rom's cubic.
        case cubic
        /// Mitchell and Netravali's cubic, which is softer.
        case mitchell
        /// A sinc with two lobes.
        case lanczos2
        /// A sinc with three lobes, the sharpest kernel.
        case lanczos3
    }

    /// A position in a picture: its centre, the middle of a side, or a corner.
    public enum Gravity: String, Sendable, CaseIterable {
        /// The centre.
        case center
        /// The middle of the upper side.
        case north
        /// The upper right corner.
        case northeast
        /// The middle of the right side.
        case east
        /// The lower right corner.
        case southeast
        /// The middle of the lower side.
        case south
        /// The lower left corner.
        case southwest
        /// The middle of the left side.
        case west
        /// The upper left corner.
        case northwest
    }

    /// A clockwise rotation, in degrees.
    public enum Rotation: Int, Sendable, CaseIterable {
        /// By 90 degrees: the left side becomes the top.
        case quarter = 90
        /// By 180 degrees.
        case half = 180
        /// By 270 degrees: the right side becomes the top.
        case threeQuarters = 270
    }
}
