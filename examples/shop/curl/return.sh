curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Content-Type: application/json' \
  -H "Idempotency-Key: return-${ORDER_ID:?}" \
  "$TILLBRIDGE_URL/orders/$ORDER_ID/returns" -d '{ "lines": [{ "sku": "LINDEN-CREW-OAT-M", "quantity": 1, "reasonCode": "SIZE" }] }'
