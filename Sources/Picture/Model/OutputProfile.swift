/// The colour space of a result: a manifest's `output.profile`.
package enum OutputProfile: String, Sendable, CaseIterable, Codable {
    /// That of the source. The values and the profile stay.
    case keep
    /// sRGB, which every program takes for granted.
    case srgb
    /// Display P3, with more saturated colours, for screens that can show them.
    case p3
}
