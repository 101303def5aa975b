<?php

$lines = tmpfile();
$asOf = null;
$request = curl_init(getenv('TILLBRIDGE_URL') . '/products');
curl_setopt_array($request, [
    CURLOPT_USERPWD => getenv('TILLBRIDGE_USERNAME') . ':' . getenv('TILLBRIDGE_PASSWORD'),
    CURLOPT_HTTPHEADER => ['X-Service-Name: ' . getenv('TILLBRIDGE_SERVICE'), 'Accept: application/x-ndjson'],
    CURLOPT_ENCODING => '',
    CURLOPT_FAILONERROR => true,
    CURLOPT_FILE => $lines,
    CURLOPT_HEADERFUNCTION => function ($request, $line) use (&$asOf) {
        if (preg_match('/^x-as-of: (\S+)/i', $line, $match)) {
            $asOf = $match[1];
        }
        return strlen($line);
    },
]);
if (getenv('CURL_CA_BUNDLE')) {
    curl_setopt($request, CURLOPT_CAINFO, getenv('CURL_CA_BUNDLE'));
}
// False if the response is cut: then start again.
if (!curl_exec($request)) {
    throw new RuntimeException(curl_error($request));
}
rewind($lines);
$count = 0;
while (($line = fgets($lines)) !== false) {
    $product = json_decode($line, true);
    $count++;
}
echo "$count products as of $asOf\n";
