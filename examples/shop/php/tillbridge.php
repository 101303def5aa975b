<?php

/** An error response. `problemCode` is stable; branch on it. */
class TillbridgeError extends Exception
{
    public function __construct(public readonly int $status, public readonly string $problemCode, string $message)
    {
        parent::__construct($message);
    }
}

/** Sends a request. Returns the decoded response; throws TillbridgeError if it is an error. */
function tillbridge(string $method, string $path, ?array $body = null, array $headers = []): array
{
    $request = curl_init(getenv('TILLBRIDGE_URL') . $path);
    $headers[] = 'X-Service-Name: ' . getenv('TILLBRIDGE_SERVICE');
    if ($body !== null) {
        $headers[] = 'Content-Type: application/json';
        curl_setopt($request, CURLOPT_POSTFIELDS, json_encode($body));
    }
    curl_setopt_array($request, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_USERPWD => getenv('TILLBRIDGE_USERNAME') . ':' . getenv('TILLBRIDGE_PASSWORD'),
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
    ]);
    // The certificate of a demo isn't public.
    if (getenv('CURL_CA_BUNDLE')) {
        curl_setopt($request, CURLOPT_CAINFO, getenv('CURL_CA_BUNDLE'));
    }
    $text = curl_exec($request);
    if ($text === false) {
        throw new RuntimeException(curl_error($request));
    }
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    $response = json_decode($text, true);
    if ($status >= 400) {
        $message = "{$response['detail']} ({$response['code']}, request {$response['requestId']})";
        throw new TillbridgeError($status, $response['code'], $message);
    }
    return $response;
}
