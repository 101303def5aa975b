import { StaffMember } from '../domain/catalog/staff.ts'
import { Filter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findStaffMember, staffPage } from '../store/catalog/staff.ts'

/** Contract 2. */
export const staff = [
  list(
    '/staff',
    {
      operationId: 'listStaff',
      tag: 'Staff',
      summary: 'List staff',
      description: 'All of them, or who has an e-mail address or a code.',
      needs: 'staff',
      query: Type.Object({
        email: Filter('Exactly this e-mail address, whatever its case.', 'john.smith@example.com'),
        code: Filter('Exactly this code.', 'JSMITH'),
      }),
      item: StaffMember,
    },
    ({ db, service, query }, asked) => staffPage(db, service, query, asked),
  ),

  get(
    '/staff/:id',
    {
      operationId: 'getStaffMember',
      tag: 'Staff',
      summary: 'Get a staff member',
      description: 'Whoever has left is not active any more, and still found.',
      params: { id: { description: 'The staff member.', example: '77' } },
      answer: StaffMember,
      kind: 'staff member',
      etag: true,
    },
    ({ db, service, params }) => findStaffMember(db, service, params.id),
  ),
]
