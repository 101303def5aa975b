curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Content-Type: application/json' \
  -H "Idempotency-Key: voucher-${BASKET_ID:?}-1" \
  "$TILLBRIDGE_URL/vouchers" -d '{
    "amount": "50.00",
    "gateway": "card",
    "senderName": "Bo",
    "receiverName": "Ann",
    "receiverEmail": "ann@example.com",
    "subject": "Happy birthday",
    "message": "Enjoy!",
    "billingAddress": { "country": "Australia" }
  }'
