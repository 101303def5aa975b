import { openClient } from '../../../src/backoffice/apparel21/client/client.ts'
import { releaseOf } from '../../../src/backoffice/apparel21/client/release.ts'
import { feedsOf } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import { openDatabase } from '../../../src/database/db.ts'
import { syncFeed } from '../../../src/sync/sync.ts'

/** A process that pulls every feed, for a test to kill. Its argument is JSON: database, service, and what the client connects to. */
const { database, service, connection } = JSON.parse(process.argv[2] ?? '')
const db = openDatabase(database)
const client = openClient(connection)
for (const feed of feedsOf(client, releaseOf(client))) await syncFeed(db, service, feed)
