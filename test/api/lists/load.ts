import { openDatabase } from '../../../src/database/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { buildCustomers, withTimestamps } from '../../support/paginate.ts'

/** Loads customers until a test kills this process. The argument is JSON with `database` and `service`. */
const { database, service } = JSON.parse(process.argv[2] ?? '')
const db = openDatabase(database)
await beginInitialLoad(db, service, 'customer')
for (let from = 1_000; ; from += 10)
  await upsertCustomers(db, service, withTimestamps(buildCustomers(from, 10, 'Loaded')))
