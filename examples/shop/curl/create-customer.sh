curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Content-Type: application/json' \
  -H "Idempotency-Key: sign-up-${SIGN_UP_ID:?}" \
  "$TILLBRIDGE_URL/customers" -d '{
    "firstname": "Ann",
    "surname": "Lee",
    "contact": { "email": "ann.lee+'"$SIGN_UP_ID"'@example.com" },
    "emailSubscription": true
  }'
