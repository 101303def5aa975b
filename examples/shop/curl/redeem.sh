account=$(curl -sS -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  "$TILLBRIDGE_URL/customers/60001/rewards" | sed 's/.*"data":{"id":"\([^"]*\)".*/\1/')
request=$(cat /proc/sys/kernel/random/uuid)
redemptions="$TILLBRIDGE_URL/rewards/accounts/$account/redemptions"
curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" -H 'Content-Type: application/json' \
  "$redemptions" -d "{ \"requestId\": \"$request\", \"points\": 5, \"seconds\": 600 }"
curl -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" -H 'Content-Type: application/json' \
  "$redemptions/$request/confirm" -d '{}'
