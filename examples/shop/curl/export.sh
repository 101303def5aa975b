curl --fail --compressed -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  -H 'Accept: application/x-ndjson' \
  "$TILLBRIDGE_URL/products" -o products.ndjson
