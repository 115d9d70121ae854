import DarkroomCore

extension ImageStatus {
    /// Identifies the pixels of a filtered image by everything that has decided them; nil if that is not noted.
    package var inputKey: String? {
        guard state == .filtered, let settingsSHA256, let versionsSHA256,
            sourceSHA256 != nil || inputsSHA256 != nil
        else { return nil }
        var writer = JSONWriter()
        writer.add("inputs", inputsSHA256)
        writer.add("libraries", libraries)
        writer.add("settings", settingsSHA256)
        writer.add("source", sourceSHA256)
        writer.add("versions", versionsSHA256)
        return SHA256Digest.hex(of: writer.text())
    }

    /// The digest of the pixels of the images that another one needs, in the order of its needs; nil if there are none, or
    /// if those of one are not known.
    package static func inputsSHA256(of needs: [ImageStatus]) -> String? {
        if needs.isEmpty { return nil }
        var digest = SHA256Digest()
        for need in needs {
            guard let key = need.inputKey else { return nil }
            digest.update(key.utf8)
        }
        return digest.hex()
    }
}
