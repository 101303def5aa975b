import { StaffMember } from '../domain/catalog/staff.ts'
import { EmailFilter, Filter } from '../http/pagination/lists.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findStaffMember, readStaffPage } from '../store/catalog/staff.ts'

/** Staff members. Read-only: the back office owns them. */
export const staff = [
  list(
    '/staff',
    {
      operationId: 'listStaff',
      tag: 'Staff',
      summary: 'List staff',
      description: 'All staff members, or those with an email address or code.',
      requires: 'staff',
      query: Type.Object({
        email: EmailFilter(),
        code: Filter('The exact, case-sensitive staff code.', 'JSMITH'),
      }),
      item: StaffMember,
    },
    ({ db, service, query }, page) => readStaffPage(db, service, query, page),
  ),

  get(
    '/staff/:id',
    {
      operationId: 'getStaffMember',
      tag: 'Staff',
      summary: 'Get a staff member',
      description: 'A staff member who has left is still found, with `active: false`.',
      params: { id: { description: 'The staff member.', example: '77' } },
      response: StaffMember,
      recordName: 'staff member',
      etag: true,
    },
    ({ db, service, params }) => findStaffMember(db, service, params.id),
  ),
]
