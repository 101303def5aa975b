import { openReplicas } from '../../../src/database/replicas/router.ts'
import { isPooled } from '../../support/cluster.ts'
import type { TestApi } from '../../support/service.ts'

/** A process looks at where the primary's log is while it has replicas. */
export async function haveReplicas({ db, database: { connection } }: TestApi) {
  const { close } = openReplicas(db, connection, { max: 1, pooled: isPooled, onNotice: () => {} })
  await close()
}
