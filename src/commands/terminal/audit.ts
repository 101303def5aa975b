import { randomUUID } from 'node:crypto'
import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type AuditedWrite, addAuditEntry } from '../../store/audit/audit.ts'

/** The writer of commands. Its name can't be the name of an account. */
export const commandWriter = { username: 'tillbridge (command line)' }

/** Records a command in the audit log, in the transaction of the command. */
export const recordCommand = (
  tx: Db,
  service: Service,
  entry: Pick<AuditedWrite, 'operation' | 'subject' | 'changes'> & { body?: object },
) => addAuditEntry(tx, service, { ...commandWriter, requestId: randomUUID(), body: {}, ...entry })
