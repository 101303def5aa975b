import { randomUUID } from 'node:crypto'
import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type Audited, leaveAuditLine } from '../../store/audit/audit.ts'

/** The audit tells what was done here from what came over the API. */
const username = 'tillbridge (command line)'

/** Leaves a line in the audit about what a command does, in the transaction that does it. */
export const leaveCommandLine = (
  tx: Db,
  service: Service,
  done: Pick<Audited, 'operation' | 'subject'> & { body?: object },
) => leaveAuditLine(tx, service, { username, requestId: randomUUID(), body: {}, ...done })
