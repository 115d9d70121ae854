import DarkroomCore
import DarkroomPicture

extension Transfer {
    /// The error of a body whose coding has an unknown name, and that does not begin like a picture.
    var failureOfBeginning: FetchError? {
        guard plan?.isKept == true, reader.head?.namesOtherCoding == true,
            !InputFormat(prefix: body.prefix).isPicture
        else { return nil }
        return FetchError(.badResponse, "\(place): \(BodyPlan.unrequestedCoding)")
    }

    /// The error of a body that libcurl has received as announced.
    var failureOfEnd: FetchError? {
        if let decoder, !decoder.isWhole {
            return FetchError(
                .truncated,
                "\(place): the body ends after \(Units.bytes(body.bytes)), before the end of its "
                    + "Content-Encoding")
        }
        return failureOfBeginning
    }
}
