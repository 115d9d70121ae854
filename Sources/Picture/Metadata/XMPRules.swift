/// What of XMP a result must not have.
enum XMPRules {
    private typealias Name = XMPDocument.Name

    private static let tiff = "http://ns.adobe.com/tiff/1.0/"
    private static let exif = "http://ns.adobe.com/exif/1.0/"
    private static let xmp = "http://ns.adobe.com/xap/1.0/"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"

    /// Small copies and other pictures, as text.
    static func isPicture(_ name: XMPDocument.Name) -> Bool {
        if name == Name(xmp, "Thumbnails") || name == Name(photoshop, "Thumb") { return true }
        let spaces = [
            // Thumbnails; what a phone adds: the picture without effects, its depth, a film.
            "http://ns.adobe.com/xap/1.0/g/img/", "http://ns.google.com/photos/",
            "http://ns.adobe.com/hdr-gain-map/", "http://ns.apple.com/HDRGainMap/",
        ]
        return spaces.contains { name.space.hasPrefix($0) }
    }

    /// Sizes, orientation, colours and regions of the source, and references to what is not carried along.
    private static func isInvalid(_ name: XMPDocument.Name) -> Bool {
        switch name.space {
        case tiff:
            ![
                "ImageDescription", "Make", "Model", "Software", "DateTime", "Artist", "Copyright",
            ].contains(name.local)
        case exif:
            [
                "PixelXDimension", "PixelYDimension", "ColorSpace", "NativeDigest", "MakerNote",
                "SubjectArea", "SubjectLocation", "FocalPlaneXResolution", "FocalPlaneYResolution",
                "FocalPlaneResolutionUnit", "ComponentsConfiguration", "CompressedBitsPerPixel",
            ].contains(name.local)
        case photoshop:
            ["ICCProfile", "ColorMode", "LegacyIPTCDigest", "TextLayers"].contains(name.local)
        case "http://iptc.org/std/Iptc4xmpExt/2008-02-29/": name.local == "ImageRegion"
        // The further XMP; the faces, in parts of the source.
        case "http://ns.adobe.com/xmp/note/",
            "http://www.metadataworkinggroup.com/schemas/regions/",
            "http://ns.microsoft.com/photo/1.2/", "http://ns.apple.com/faceinfo/1.0/":
            true
        default: false
        }
    }

    /// Names of places that several namespaces have, in lower case: `photoshop:City`, `Iptc4xmpExt:LocationShown`.
    private static let places: Set<String> = [
        "city", "state", "country", "location", "sublocation", "provincestate", "countryname",
        "countrycode", "worldregion", "locationshown", "locationcreated", "locationname",
        "locationid", "shotlocation", "coverage", "spatial", "lat", "lon", "lng", "long",
        "ciadrcity", "ciadrextadr", "ciadrregion", "ciadrpcode", "ciadrctry",
    ]

    /// Namespaces of places: those of the W3C and of GeoRSS, and of where creatures were found (Darwin Core).
    private static let placeSpaces = [
        "http://www.w3.org/2003/01/geo/", "http://www.georss.org/georss",
        "http://rs.tdwg.org/dwc/",
    ]

    /// Any namespace may have a place, as those of drones do.
    static func isPlace(_ name: XMPDocument.Name) -> Bool {
        let local = name.local.lowercased()
        return places.contains(local)
            || ["gps", "latitude", "longitude", "longtitude", "geotag", "coordinates"].contains {
                local.contains($0)
            } || placeSpaces.contains { name.space.hasPrefix($0) }
    }

    static func isDropped(_ name: XMPDocument.Name, keepsPlaces: Bool) -> Bool {
        isPicture(name) || isInvalid(name) || !keepsPlaces && isPlace(name)
    }

    /// Whether it is not a part of the form only.
    static func isProperty(_ name: XMPDocument.Name) -> Bool {
        ![XMPDocument.rdf, XMPDocument.meta, XMPDocument.xml, ""].contains(name.space)
    }
}
