import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomPicture

extension BatchSettings {
    /// The codes of failures that a limit decides.
    private static let codes: Set<String> = [
        FetchError.Code.tooLarge.rawValue, PictureError.Code.tooManyPixels.rawValue,
        PictureError.Code.memoryLimit.rawValue, PictureError.Code.codecTime.rawValue,
    ]

    /// The digest of the limits, as a SHA-256 in hexadecimal, if an image has failed because of one of them; nil otherwise.
    /// With other limits, another attempt may have another result.
    package func limitsSHA256(of failure: Failure?) -> String? {
        guard let failure, Self.codes.contains(failure.code) else { return nil }
        var writer = JSONWriter()
        writer.add("ancillary", pictureLimits.ancillaryBytes)
        writer.add("codecSeconds", pictureLimits.codecSeconds)
        writer.add("codecSilence", pictureLimits.codecSilence)
        writer.add("localSource", Int(clamping: localSources.maximumBytes))
        writer.add("memory", mostMemoryOfOne)
        writer.add("pixels", pictureLimits.pixels)
        writer.add("side", pictureLimits.side)
        writer.add("source", maximumSourceBytes)
        writer.add("whole", pictureLimits.wholePictureBytes)
        return SHA256Digest.hex(of: writer.text())
    }
}
