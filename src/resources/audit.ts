import { Audit, AuditGroupFilter } from '../domain/audit.ts'
import { Filter, updatedAfterParameter } from '../http/pagination/lists.ts'
import { list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { readAuditPage } from '../store/audit/audit.ts'

/** The audit log of the service. */
export const audit = [
  list(
    '/audit',
    {
      operationId: 'listAudit',
      tag: 'Audit',
      role: 'admin',
      summary: 'List audit log entries',
      description:
        'One entry for each executed write. Rejected writes, dry runs and replayed responses have none. Entries have the names of the fields. Only settings, roles and mappings of stores and SKUs have values too.',
      query: Type.Object({
        updated_after: updatedAfterParameter,
        record: Filter('Only writes to the record with this path.', '/customers/65432', 500),
        account: Filter('Only writes of this account.', 'webshop'),
        group: Type.Optional(AuditGroupFilter),
        asc: Type.Optional(
          Type.Boolean({
            description: 'True: oldest entry first. False: newest first. Bulk exports are always oldest first.',
            default: true,
            examples: [false],
          }),
        ),
      }),
      item: Audit,
    },
    ({ db, service, query: { updated_after: updatedAfter, record: subject, account, group, asc } }, page) =>
      readAuditPage(db, service, { updatedAfter, subject, account, group, newestFirst: asc === false }, page),
  ),
]
