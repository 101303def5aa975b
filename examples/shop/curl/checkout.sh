request() {
  curl -sS -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
    -H "X-Service-Name: $TILLBRIDGE_SERVICE" -H 'Content-Type: application/json' "$@"
}

# 1. Lock the voucher for 15 minutes. With the key, a repeated request returns the same lock.
lock=$(request -X PUT -H "Idempotency-Key: lock-${BASKET_ID:?}" "$TILLBRIDGE_URL/vouchers/9100001/lock" \
  -d '{ "pin": "204816", "amount": "10.00", "lockSeconds": 900 }')
validation_id=$(echo "$lock" | sed -n 's/.*"validationId":"\([^"]*\)".*/\1/p')
[ "$validation_id" ] || echo "$lock"

# 2. Take the rest of the payment with your payment provider. Then place the order.
request -H "Idempotency-Key: basket-${BASKET_ID:?}" "$TILLBRIDGE_URL/orders" -d '{
  "customerId": "60001",
  "billingAddress": { "addressLine1": "111 Collins St", "city": "Melbourne", "postcode": "3000", "country": "Australia" },
  "deliveryAddress": { "addressLine1": "111 Collins St", "city": "Melbourne", "postcode": "3000", "country": "Australia" },
  "lines": [{ "sku": "LINDEN-CREW-OAT-M", "quantity": 1 }],
  "payments": [
    { "gateway": "gift-card", "amount": "10.00", "voucher": { "number": "9100001", "validationId": "'"$validation_id"'" } },
    { "gateway": "paypal", "amount": "109.95", "reference": "PAYID-1" }
  ]
}'
