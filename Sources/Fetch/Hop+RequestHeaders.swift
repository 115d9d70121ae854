import DarkroomCore
import DarkroomPicture

extension Hop {
    /// The headers of the request in their order. `EasyOptions.setRequest` sets those that all requests have, such as
    /// `User-Agent`; libcurl adds `Host`.
    ///
    /// | headers                              | from                                                       |
    /// |--------------------------------------|------------------------------------------------------------|
    /// | those of `downloads.headers`         | `OriginHeaders`, for this origin                           |
    /// | `Cookie`                             | the same, and the redirects before (`ReceivedCookies`)     |
    /// | `Accept`                             | the formats that are read, if the origin has none          |
    /// | `Range`, `If-Range`                  | the first bytes that are wanted, or the part that is there |
    /// | `If-None-Match`, `If-Modified-Since` | the validators of a copy that is there                     |
    func headers(
        of origins: OriginHeaders, cookies: inout ReceivedCookies, validators: Validators?,
        resume: PartialBody?, firstBytes: Int64? = nil
    ) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        var cookie: String?
        for header in origins.headers(for: origin) {
            // The user in the URL of a manifest takes precedence over the header of the whole origin.
            if ByteString(header.name).asciiLowercased == "authorization", url.hasUser { continue }
            if ByteString(header.name).asciiLowercased == "cookie" {
                cookie = [cookie, header.value].compactMap(\.self).joined(separator: "; ")
            } else {
                headers.append(header)
            }
        }
        if let all = cookies.field(for: origin, path: url.path, configured: cookie) {
            headers.append(("Cookie", all))
        }
        if !headers.contains(where: { ByteString($0.name).asciiLowercased == "accept" }) {
            headers.append(("Accept", InputFormat.accepted))
        }
        if let firstBytes {
            headers.append(("Range", "bytes=0-\(firstBytes - 1)"))
        } else if let resume {
            headers.append(("Range", "bytes=\(resume.bytes)-"))
            headers.append(("If-Range", resume.validator.string))
        }
        if let validators {
            if let tag = validators.entityTag { headers.append(("If-None-Match", tag.string)) }
            if let date = validators.lastModified {
                headers.append(("If-Modified-Since", date.string))
            }
        }
        return headers
    }
}
