# --retry repeats 408, 429, 502, 503 and 504 and respects Retry-After. The key makes the write take effect once.
curl --retry 5 --retry-all-errors --fail-with-body \
  -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Content-Type: application/json' \
  -H "Idempotency-Key: retry-${SIGN_UP_ID:?}" \
  "$TILLBRIDGE_URL/customers" -d '{
    "firstname": "Bo",
    "surname": "Lee",
    "contact": { "email": "bo.lee+'"$SIGN_UP_ID"'@example.com" }
  }'
