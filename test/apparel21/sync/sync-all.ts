import { createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import { createReleaseReader } from '../../../src/backoffice/apparel21/client/release.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import { openDatabase } from '../../../src/database/db.ts'
import { runSync } from '../../../src/sync/sync.ts'

/** Runs every sync, or only `only`, in a process that tests kill. The argument is JSON: `{ database, service, connection, only }`. */
const { database, service, connection, only } = JSON.parse(process.argv[2] ?? '')
const db = openDatabase(database)
const client = createClient(connection)
for (const sync of buildSyncs(client, createReleaseReader(client)))
  if (only === undefined || only === sync.name) await runSync(db, service, sync)
if (only !== undefined) process.exit()
