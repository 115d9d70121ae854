/// The tags of Exif that are read, and those that a result may keep. The latter are a list of what is permitted, because
/// any other may have a picture or a place in it. (Exif 2.32, sections 4.6.4 to 4.6.6; XPTitle and the others up to
/// XPSubject are of Windows.)
enum ExifTags {
    static let exifDirectory: UInt16 = 0x8769
    static let gpsDirectory: UInt16 = 0x8825
    static let orientation: UInt16 = 0x0112
    static let resolutionX: UInt16 = 0x011A
    static let resolutionY: UInt16 = 0x011B
    static let resolutionUnit: UInt16 = 0x0128
    static let positioning: UInt16 = 0x0213
    static let version: UInt16 = 0x9000
    static let components: UInt16 = 0x9101
    static let makerNote: UInt16 = 0x927C
    static let userComment: UInt16 = 0x9286
    static let flashpixVersion: UInt16 = 0xA000
    static let colourSpace: UInt16 = 0xA001
    static let width: UInt16 = 0xA002
    static let height: UInt16 = 0xA003
    static let interoperability: UInt16 = 0xA005

    /// ImageDescription, Artist, Copyright.
    static let copyright: Set<UInt16> = [0x010E, 0x013B, 0x8298]

    /// Without those that `ExifBlock.completed` writes.
    static func isKept(inMain tag: UInt16) -> Bool {
        switch tag {
        // Texts, the camera and the time; ratings; texts of Windows.
        case 0x010D, 0x010E, 0x010F, 0x0110, 0x011D, 0x0131, 0x0132, 0x013B, 0x013C, 0x8298,
            0x4746, 0x4749, 0x9C9B...0x9C9F:
            true
        default: false
        }
    }

    /// Not those that count pixels of the source: SubjectArea, SubjectLocation and the resolutions of the focal plane.
    static func isKept(inExif tag: UInt16) -> Bool {
        switch tag {
        // The exposure.
        case 0x829A, 0x829D, 0x8822, 0x8824, 0x8827, 0x8828, 0x8830...0x8835, 0x9201...0x920A: true
        // The version, the time, the components.
        case 0x9000, 0x9003, 0x9004, 0x9010...0x9012, 0x9101, 0x9102, 0x9290...0x9292: true
        // The comment, and where the camera was: warm, moist, under water, tilted.
        case userComment, 0x9400...0x9405: true
        case flashpixVersion, 0xA20B, 0xA20C, 0xA215, 0xA217: true
        case 0xA300...0xA302, 0xA401...0xA40C: true
        // The numbers and owners of picture, camera and lens.
        case 0xA420, 0xA430...0xA43E, 0xA460...0xA462: true
        default: false
        }
    }

    static func isKept(inGPS tag: UInt16) -> Bool { tag <= 0x001F }
}
