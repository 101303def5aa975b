import { Audit } from '../domain/audit.ts'
import { Filter, updatedAfter } from '../http/pagination/lists.ts'
import { list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { auditPage } from '../store/audit/audit.ts'

/** Who wrote what, when. */
export const audit = [
  list(
    '/audit',
    {
      operationId: 'listAudit',
      tag: 'Audit',
      role: 'admin',
      summary: 'List audit log entries',
      description:
        'A line for each write that was carried out: none for one that was refused, none for an answer that was given again. Fields are named, their values are not kept.',
      query: Type.Object({
        updated_after: updatedAfter,
        record: Filter('Only what was written of the record at this path.', '/customers/65432', 500),
        account: Filter('Only what this account wrote.', 'webshop'),
        asc: Type.Optional(
          Type.Boolean({
            description: 'Whether the oldest line comes first, or the newest. As lines the oldest comes first anyway.',
            default: true,
            examples: [false],
          }),
        ),
      }),
      item: Audit,
    },
    ({ db, service, query: { updated_after: updatedAfter, record: subject, account, asc } }, asked) =>
      auditPage(db, service, { updatedAfter, subject, account, newestFirst: asc === false }, asked),
  ),
]
