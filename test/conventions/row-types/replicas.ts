import { openReplicas } from '../../../src/database/replicas/router.ts'
import { isPooled } from '../../support/cluster.ts'
import type { TestApi } from '../../support/service.ts'

/** Opens the database with replicas, which reads the WAL position of the primary. */
export async function tourReplicas({ db, database: { connection } }: TestApi) {
  const { close } = openReplicas(db, connection, { max: 1, pooled: isPooled, onNotice: () => {} })
  await close()
}
