request() {
  curl -sS -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
    -H "X-Service-Name: $TILLBRIDGE_SERVICE" -H 'Content-Type: application/json' "$@"
}

# 1. Show the shopper the price of the cart.
quote=$(request "$TILLBRIDGE_URL/orders/quote" \
  -d '{ "customerId": "60002", "lines": [{ "sku": "LINDEN-CREW-OAT-M", "quantity": 1 }], "freight": "9.95" }')
quote_id=$(echo "$quote" | sed -n 's/.*"quoteId":"\([^"]*\)".*/\1/p')
total=$(echo "$quote" | sed -n 's/.*"total":"\([^"]*\)".*/\1/p')
echo "$total"

# 2. Take the payment with your payment provider. Then place the order at this price.
request -H "Idempotency-Key: quoted-${BASKET_ID:?}" "$TILLBRIDGE_URL/orders" -d '{
  "customerId": "60002",
  "quoteId": "'"$quote_id"'",
  "billingAddress": { "addressLine1": "111 Collins St", "city": "Melbourne", "postcode": "3000", "country": "Australia" },
  "deliveryAddress": { "addressLine1": "111 Collins St", "city": "Melbourne", "postcode": "3000", "country": "Australia" },
  "lines": [{ "sku": "LINDEN-CREW-OAT-M", "quantity": 1 }],
  "payments": [{ "gateway": "paypal", "amount": "'"$total"'", "reference": "PAYID-2" }]
}'
