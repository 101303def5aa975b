curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Content-Type: application/json' \
  -H 'X-Shopper-IP: 203.0.113.7' \
  "$TILLBRIDGE_URL/vouchers/validate" -d '{ "number": "9100001", "pin": "204816", "amount": "10.00" }'
