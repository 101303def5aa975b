import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { client } from './tillbridge.ts'

// The file `cursor` holds the cursor of the last run. Without one, the feed starts with the oldest record.
const afterCursor = existsSync('cursor') ? readFileSync('cursor', 'utf8') : undefined
const changes = client.changes.list({ kinds: 'customer,inventory', ...(afterCursor && { afterCursor }) })
for await (const change of changes) console.log(change.kind, change.id, change.action)
if (changes.meta?.endCursor) writeFileSync('cursor', changes.meta.endCursor)
