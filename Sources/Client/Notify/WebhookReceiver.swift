import DarkroomCore
import DarkroomFetch

/// A web server that gets a POST request for each end. The body is the progress of the batch, as in `progress.json`.
///
/// The header fields are those of the Standard Webhooks specification: `webhook-id`, which is the same for each call
/// for one end, `webhook-timestamp`, and with a key `webhook-signature`.
package struct WebhookReceiver: Sendable {
    private let url: RemoteURL
    private let key: WebhookKey?
    private let settings: TransferSettings

    /// - Throws: if the URL is not one of http or https, or if the rules refuse its host.
    package init(
        _ url: String, key: WebhookKey?, networks: [IPNetwork], caFile: String?
    ) throws(ClientError) {
        let rules = FetchRules(
            addresses: AddressRules(allowNetworks: networks), allowance: "--allow-network")
        do throws(FetchError) {
            self.url = try RemoteURL(ByteString(url))
            try PostRequest.check(self.url, rules: rules)
        } catch {
            throw ClientError(.usage, code: error.code, "--post \(error.message)")
        }
        self.key = key
        settings = TransferSettings(
            caFile: caFile, rules: rules,
            userAgent: TransferSettings.userAgent(version: Release.version))
    }

    func call(
        for end: BatchEnd, within seconds: Double
    ) -> Result<any NotificationCall, CallFailure> {
        let body = Array(JSONText.line(end.progress).utf8)
        var settings = settings
        let limit = Duration.seconds(seconds)
        settings.limits = TransferLimits(
            connect: min(limit, .seconds(10)), total: limit, stall: limit)
        var fields = [("Content-Type", "application/json"), ("webhook-id", end.identifier)]
        let time = String(Int(Clock.wall))
        fields.append(("webhook-timestamp", time))
        if let key {
            fields.append(
                ("webhook-signature", key.signature(of: body, id: end.identifier, time: time)))
        }
        do throws(FetchError) {
            return .success(
                WebhookCall(
                    try PostRequest(to: url, body: body, fields: fields, settings: settings),
                    name: url.description))
        } catch {
            return .failure(CallFailure(reason: error.message))
        }
    }
}
