import DarkroomCore
import DarkroomPicture

extension Suggestion {
    /// The candidate that is most similar to `word`, otherwise the first one with the same meaning.
    package static func meant(
        by word: ByteString, among candidates: some Sequence<ByteString>
    ) -> String? {
        let candidates = Array(candidates)
        if let nearest = nearest(to: word, among: candidates) { return nearest }
        guard word.utf8.count <= 32, let meanings = synonyms[word.asciiLowercased] else {
            return nil
        }
        return meanings.first(where: candidates.contains)?.string
    }

    /// The same for words of Darkroom.
    package static func meant(
        by word: ByteString, among candidates: some Sequence<String>
    ) -> String? {
        meant(by: word, among: candidates.lazy.map { ByteString($0) })
    }

    /// The names of keys, parameters and values in other programs, in lower case.
    private static let synonyms: [ByteString: [ByteString]] = {
        let meanings: [(ByteString, words: [ByteString])] = [
            // Keys of an image.
            (
                "source",
                [
                    "url", "uri", "src", "path", "file", "href", "image", "input", "original",
                    "same", "keep",
                ]
            ),
            ("from", ["source", "src", "url", "path", "file", "image", "logo"]),
            ("after", ["needs", "depends", "dependson", "waitsfor"]),
            ("filters", ["effects", "steps", "operations"]),
            ("images", ["files", "pictures", "photos", "sources", "urls"]),
            ("format", ["type", "codec"]),
            // Parameters.
            ("width", ["max", "size", "w", "maxwidth"]), ("height", ["h", "maxheight"]),
            ("size", ["max", "side"]),
            ("background", ["color", "colour", "fill", "bg"]),
            ("intensity", ["amount", "strength", "value", "level", "factor"]),
            ("amount", ["intensity", "strength", "value", "level", "factor"]),
            ("sigma", ["radius", "amount", "strength", "value"]),
            ("angle", ["degrees", "deg", "rotation", "value"]),
            ("level", ["threshold", "value", "amount"]),
            ("levels", ["colors", "colours", "value"]),
            ("gravity", ["position", "anchor", "align", "corner"]),
            ("opacity", ["alpha", "amount"]),
            ("kernel", ["filter", "interpolation", "algorithm"]), ("fit", ["mode"]),
            ("withoutEnlargement", ["noupscale", "noenlarge", "onlyshrink"]),
            ("tolerance", ["fuzz", "threshold"]),
            ("top", ["margin", "all"]),
            // Values.
            ("inside", ["max", "clip", "scale-down", "fit"]), ("outside", ["min"]),
            ("cover", ["crop"]), ("contain", ["pad", "letterbox"]), ("fill", ["stretch", "exact"]),
            ("linear", ["bilinear", "triangle"]), ("cubic", ["bicubic", "catmullrom"]),
            ("lanczos3", ["lanczos"]), ("nearest", ["nearestneighbor", "point", "pixel"]),
            ("center", ["middle"]), ("north", ["top"]), ("south", ["bottom"]), ("east", ["right"]),
            ("west", ["left"]), ("northwest", ["top-left", "topleft"]),
            ("northeast", ["top-right", "topright"]),
            ("southwest", ["bottom-left", "bottomleft"]),
            ("southeast", ["bottom-right", "bottomright"]),
            // Filters.
            ("mono", ["bw", "blackandwhite", "black-and-white"]), ("grayscale", ["gray", "grey"]),
            ("invert", ["negate", "negative"]), ("resize", ["scale"]), ("hueRotate", ["hue"]),
            ("flop", ["mirror"]), ("pad", ["border", "extend"]), ("sharpen", ["unsharp"]),
            ("overlay", ["composite"]),
        ]
        var synonyms: [ByteString: [ByteString]] = [:]
        for (meaning, words) in meanings {
            for word in words { synonyms[word, default: []].append(meaning) }
        }
        return synonyms
    }()
}

extension Colour {
    /// The notation of a colour that was given by a common name or without the `#`.
    static func spelling(meantBy text: ByteString) -> ByteString? {
        if Colour(text) != nil { return text }
        guard text.utf8.count <= 16 else { return nil }
        let word = text.asciiLowercased
        if let name = names[word] { return name }
        return [word, ByteString("#" + word.string)].first { Colour($0) != nil }
    }

    private static let names: [ByteString: ByteString] = [
        "red": "#ff0000", "green": "#008000", "blue": "#0000ff", "yellow": "#ffff00",
        "cyan": "#00ffff", "magenta": "#ff00ff", "orange": "#ffa500", "purple": "#800080",
        "pink": "#ffc0cb", "brown": "#a52a2a", "gray": "#808080", "grey": "#808080",
        "silver": "#c0c0c0", "navy": "#000080", "none": "transparent",
    ]
}
