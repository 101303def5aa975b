# The file `cursor` holds the cursor of the last run. Without one, the feed starts with the oldest record.
cursor=$(cat cursor 2>/dev/null)
response=$(curl -sS -u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD" \
  -H "X-Service-Name: $TILLBRIDGE_SERVICE" \
  "$TILLBRIDGE_URL/changes?kinds=customer,inventory${cursor:+&after_cursor=$cursor}")
echo "$response"
echo "$response" | sed -n 's/.*"endCursor":"\([^"]*\)".*/\1/p' >cursor
