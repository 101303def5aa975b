import { openClient } from '../../../src/backoffice/apparel21/calls/client.ts'
import { releaseOf } from '../../../src/backoffice/apparel21/calls/release.ts'
import { feedsOf } from '../../../src/backoffice/apparel21/pull/feeds.ts'
import { syncFeed } from '../../../src/backoffice/sync/sync.ts'
import { openDatabase } from '../../../src/db.ts'

/** A process that pulls every feed, for a test to kill. Its argument is JSON: database, service, and what the client connects to. */
const { database, service, connection } = JSON.parse(process.argv[2] ?? '')
const db = openDatabase(database)
const client = openClient(connection)
for (const feed of feedsOf(client, releaseOf(client))) await syncFeed(db, service, feed)
